package io.envapi.files;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.Charset;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.nio.charset.spi.CharsetProvider;
import java.util.Iterator;
import java.util.List;

/**
 * The charset of names that are no UTF-8, for a library that takes names as text and charsets by
 * name. Each byte beyond ASCII is a low surrogate by itself, which no text has, so that this
 * charset can encode nothing else but ASCII.
 */
public final class RawNames extends CharsetProvider {

  static final String CHARSET = "x-envapi-raw-names";
  private static final char BASE = 0xdc00;
  private static final Charset INSTANCE = new Raw();

  /** Text where the bytes are UTF-8, and what only this charset encodes where they are not. */
  static String text(byte[] name) {
    if (new Utf8Scan().accept(name, 0, name.length).isText()) {
      return new String(name, StandardCharsets.UTF_8);
    }
    return INSTANCE.decode(ByteBuffer.wrap(name)).toString();
  }

  @Override
  public Iterator<Charset> charsets() {
    return List.of(INSTANCE).iterator();
  }

  @Override
  @SuppressWarnings("NullAway") // The contract of a provider.
  public Charset charsetForName(String name) {
    return name.equalsIgnoreCase(CHARSET) ? INSTANCE : null;
  }

  private static final class Raw extends Charset {

    Raw() {
      super(CHARSET, new String[0]);
    }

    @Override
    public boolean contains(Charset other) {
      return other.equals(StandardCharsets.US_ASCII);
    }

    @Override
    public CharsetDecoder newDecoder() {
      return new Decoder(this);
    }

    @Override
    public CharsetEncoder newEncoder() {
      return new Encoder(this);
    }
  }

  private static final class Decoder extends CharsetDecoder {

    Decoder(Charset charset) {
      super(charset, 1, 1);
    }

    @Override
    protected CoderResult decodeLoop(ByteBuffer in, CharBuffer out) {
      while (in.hasRemaining()) {
        if (!out.hasRemaining()) {
          return CoderResult.OVERFLOW;
        }
        byte next = in.get();
        out.put((char) (next < 0 ? BASE + (next & 0xff) : next));
      }
      return CoderResult.UNDERFLOW;
    }
  }

  private static final class Encoder extends CharsetEncoder {

    Encoder(Charset charset) {
      super(charset, 1, 1);
    }

    @Override
    public boolean isLegalReplacement(byte[] replacement) {
      return true;
    }

    @Override
    protected CoderResult encodeLoop(CharBuffer in, ByteBuffer out) {
      while (in.hasRemaining()) {
        char next = in.get(in.position());
        if (next >= 0x80 && (next < BASE + 0x80 || next > BASE + 0xff)) {
          return CoderResult.unmappableForLength(1);
        }
        if (!out.hasRemaining()) {
          return CoderResult.OVERFLOW;
        }
        out.put((byte) next);
        in.get();
      }
      return CoderResult.UNDERFLOW;
    }
  }
}
