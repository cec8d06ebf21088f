package io.envapi.files;

/** How content stands in JSON. */
public enum ContentEncoding {
  UTF_8,
  BASE64
}
