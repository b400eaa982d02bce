import { WorkerResults } from '../../compatibility-worker/worker-results.ts'
import { guidOf, type SchemaContent } from '../model/schema.ts'

/** In characters. The GUIDs of larger texts are cached: hashing takes 2 ms for one million characters. */
const LARGE_TEXT_MIN = 100_000

/** What the decisions of one request have found out, so that a decision that is repeated does not compute it again. */
export class DecisionResults extends WorkerResults {
  /** By text, then by the other parts of the content. */
  readonly #guids = new Map<string, Map<string, string>>()

  /** The GUID of a content, computed once for large texts. */
  guidOf(content: Omit<SchemaContent, 'guid'>): string {
    const { text, ...others } = content
    if (text.length < LARGE_TEXT_MIN) return guidOf(content)
    const key = JSON.stringify(others)
    const known = this.#guids.get(text) ?? new Map<string, string>()
    const guid = known.get(key) ?? guidOf(content)
    this.#guids.set(text, known.set(key, guid))
    return guid
  }
}
