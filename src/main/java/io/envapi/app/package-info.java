/**
 * The programs: the service itself and the development keyring. The only package that reads the
 * process's environment, knows every other and puts them together.
 */
@NullMarked
package io.envapi.app;

import org.jspecify.annotations.NullMarked;
