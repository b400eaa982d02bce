import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A value that Java's data classes had when it was recorded, in the envelope of JsonConverter. */
export type RecordedValue = {
  readonly json: string
  /** Whether Java's JsonConverter wrote it, so that it writes the same text again. */
  readonly isWrittenByJava: boolean
}

const PLUGIN_TESTS = join(import.meta.dirname, '../plugins')

/** All values in the recordings of converters and transforms (`*.golden.json`), each text once. */
export function recordedValues(): readonly RecordedValue[] {
  const found = new Map<string, RecordedValue>()
  for (const file of globSync('*/*.golden.json', { cwd: PLUGIN_TESTS }).sort()) {
    for (const one of valuesIn(JSON.parse(readFileSync(join(PLUGIN_TESTS, file), 'utf8')))) {
      if (!found.get(one.json)?.isWrittenByJava) found.set(one.json, one)
    }
  }
  return [...found.values()]
}

/** Members of a recording that are the output of Java's JsonConverter. */
const WRITTEN = ['read', 'out']

function* valuesIn(node: unknown, member = ''): Generator<RecordedValue> {
  if (typeof node === 'string') {
    if (isEnvelope(parsed(node))) yield { json: node, isWrittenByJava: WRITTEN.includes(member) }
  } else if (isEnvelope(node)) {
    yield { json: JSON.stringify(node), isWrittenByJava: false }
  } else if (typeof node === 'object' && node !== null) {
    for (const [name, inner] of Object.entries(node)) yield* valuesIn(inner, name)
  }
}

/** Undefined for other texts, and for the invalid ones among the inputs. */
function parsed(text: string): unknown {
  try {
    return text.startsWith('{"schema":') ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}

function isEnvelope(node: unknown): boolean {
  return typeof node === 'object' && node !== null && Object.keys(node).join() === 'schema,payload'
}
