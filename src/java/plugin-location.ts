import type { ConfigDefinition } from '../sdk/index.ts'

/** One location on `plugin.path` with Java plugins. It gets a class loader and a JVM of its own. */
export type JavaPluginLocation = {
  /** Absolute path of an uber jar, of a directory of jars, or of a directory of class files. */
  readonly path: string
  /** Absolute paths of its jars; empty for a directory of class files. */
  readonly jars: readonly string[]
}

export type JavaPluginKind =
  | 'source'
  | 'sink'
  | 'converter'
  | 'header_converter'
  | 'transformation'
  | 'predicate'
  | 'provider'

/** A plugin of a location, as plain data that can be cached and posted to other threads. */
export type JavaPluginDescription = {
  readonly kind: JavaPluginKind
  readonly class: string
  /** As the plugin states it, or the `Implementation-Version` of its jar; `undefined` when neither does. */
  readonly version: string
  readonly definitions: readonly ConfigDefinition[]
}

/** `isLasting`: the plugin cannot be created as long as the files of the location and of the Java host are the same. */
export type JavaPluginFault = { readonly reason: string; readonly isLasting: boolean }

/** What a Java host found in a location. */
export type JavaLocationDescription = {
  readonly plugins: readonly JavaPluginDescription[]
  /** The plugins that cannot be created, each with a sentence. */
  readonly faults: readonly JavaPluginFault[]
}
