package io.envapi;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.cfg.MapperConfig;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.AnnotatedClass;
import com.fasterxml.jackson.databind.introspect.NopAnnotationIntrospector;
import com.fasterxml.jackson.databind.jsontype.NamedType;
import com.fasterxml.jackson.databind.jsontype.TypeResolverBuilder;
import com.fasterxml.jackson.databind.jsontype.impl.StdTypeResolverBuilder;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;

/**
 * What Jackson has to know of the messages between nodes: a part of a message whose type is one of
 * our sealed interfaces carries the simple name of its record, and bytes travel as bytes. Named in
 * {@code reference.conf}.
 */
public final class MessageModule extends SimpleModule {

  private static final long serialVersionUID = 1L;

  public MessageModule() {
    super("envapi-messages");
    addSerializer(ByteString.class, new WriteBytes());
    addDeserializer(ByteString.class, new ReadBytes());
  }

  @Override
  public void setupModule(SetupContext context) {
    super.setupModule(context);
    context.insertAnnotationIntrospector(new SealedTypes());
  }

  private static final class SealedTypes extends NopAnnotationIntrospector {

    private static final long serialVersionUID = 1L;

    @Override
    public @Nullable TypeResolverBuilder<?> findTypeResolver(
        MapperConfig<?> config, AnnotatedClass type, JavaType base) {
      if (!isOurs(type)) {
        return null;
      }
      return new StdTypeResolverBuilder()
          .init(
              JsonTypeInfo.Value.construct(
                  JsonTypeInfo.Id.NAME, JsonTypeInfo.As.PROPERTY, "@type", null, false, null),
              null);
    }

    @Override
    public @Nullable List<NamedType> findSubtypes(Annotated type) {
      return isOurs(type)
          ? records(type.getRawType())
              .map(each -> new NamedType(each, each.getSimpleName()))
              .toList()
          : null;
    }

    /** Those with names of their own keep them: they are in journals too. */
    private static boolean isOurs(Annotated type) {
      Class<?> raw = type.getRawType();
      return raw.isInterface()
          && raw.isSealed()
          && raw.getName().startsWith("io.envapi.")
          && !type.hasAnnotation(JsonTypeInfo.class);
    }

    private static Stream<Class<?>> records(Class<?> type) {
      return type.isSealed()
          ? Arrays.stream(type.getPermittedSubclasses()).flatMap(SealedTypes::records)
          : Stream.of(type);
    }
  }

  private static final class WriteBytes extends StdSerializer<ByteString> {

    private static final long serialVersionUID = 1L;

    WriteBytes() {
      super(ByteString.class);
    }

    @Override
    public void serialize(ByteString bytes, JsonGenerator to, SerializerProvider provider)
        throws IOException {
      to.writeBinary(bytes.toArrayUnsafe());
    }
  }

  private static final class ReadBytes extends StdDeserializer<ByteString> {

    private static final long serialVersionUID = 1L;

    ReadBytes() {
      super(ByteString.class);
    }

    @Override
    public ByteString deserialize(JsonParser from, DeserializationContext context)
        throws IOException {
      return ByteString.fromArrayUnsafe(from.getBinaryValue());
    }
  }
}
