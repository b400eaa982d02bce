/** The login module of a `sasl.jaas.config` and its options. */
export type JaasEntry = { readonly module: string; readonly options: Readonly<Record<string, string>> }

/** Parses `MODULE required key="value" key='value' key=value;`. Java accepts both quotation marks, with backslashes as escapes. */
export function parseJaasEntry(line = ''): JaasEntry {
  const [, module = ''] = /^\s*([\w.$]+)/.exec(line) ?? []
  const options: Record<string, string> = {}
  const pairs = line.matchAll(/([\w.]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s;"']+))/g)
  for (const [, key = '', double, single, bare = ''] of pairs) {
    options[key] = (double ?? single)?.replace(/\\(.)/g, '$1') ?? bare
  }
  return { module, options }
}
