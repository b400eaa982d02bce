/** Keys of Debezium that name Java code, with the values that mean what this connector does. */
const JAVA_CLASS_KEYS: Readonly<Record<string, readonly string[]>> = {
  converters: [],
  'post.processors': [],
  'database.sslfactory': [],
  'sourceinfo.struct.maker': ['io.debezium.connector.postgresql.PostgresSourceInfoStructMaker'],
  'transaction.metadata.factory': ['io.debezium.pipeline.txmetadata.DefaultTransactionMetadataFactory'],
  'snapshot.query.mode': ['select_all'],
}

/** The first key that names Java code: without the code, events would differ. */
export function javaClassProblem(
  config: Readonly<Record<string, unknown>>,
): { readonly key: string; readonly message: string } | undefined {
  for (const [key, allowed] of Object.entries(JAVA_CLASS_KEYS)) {
    const value = String(config[key] ?? '').trim()
    if (value === '' || allowed.includes(value)) continue
    return {
      key,
      message: `${key} is ${value}, which needs Java code: remove the key, or install the jar of Debezium in plugin.path`,
    }
  }
  return undefined
}
