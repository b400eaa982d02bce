/** Keys of Debezium that name Java code, with the values that mean what this connector does. */
const JAVA_CLASS_KEYS: Readonly<Record<string, readonly string[]>> = {
  converters: [],
  'post.processors': [],
  'database.sslfactory': [],
  'sourceinfo.struct.maker': [],
  'transaction.metadata.factory': ['io.debezium.pipeline.txmetadata.DefaultTransactionMetadataFactory'],
  'snapshot.query.mode': ['select_all'],
}

/** The first key that names Java code: without the code, events would differ. `structMaker` is Debezium's own for this database. */
export function javaClassProblem(
  config: Readonly<Record<string, unknown>>,
  structMaker: string,
): { readonly key: string; readonly message: string } | undefined {
  for (const [key, allowed] of Object.entries(JAVA_CLASS_KEYS)) {
    const value = String(config[key] ?? '').trim()
    if (value === '' || allowed.includes(value) || value === structMaker) continue
    return {
      key,
      message: `${key} is ${value}, which needs Java code: remove the key, or install the jar of Debezium in plugin.path`,
    }
  }
  return undefined
}
