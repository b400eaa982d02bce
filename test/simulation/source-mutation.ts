import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A fault made by hand: text of source files that is replaced while they are loaded. */
export type Mutation = {
  readonly name: string
  /** The world whose checks must find it. */
  readonly world: string
  /** A seed that finds it. */
  readonly seed: number
  /** What the changed program does wrong. */
  readonly fault: string
  readonly edits: readonly Edit[]
}

/** The text occurs once in the file, whose path begins at the root of the checkout. */
export type Edit = { readonly file: string; readonly from: string; readonly to: string }

const ROOT = join(import.meta.dirname, '../..')

/** Changes the files that this process loads from now on. The returned function throws if not every edit has been made. */
export function mutateSource({ name, edits }: Mutation): () => void {
  const pending = new Set(edits)
  const ofUrl = Map.groupBy(edits, ({ file }) => pathToFileURL(join(ROOT, file)).href)
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      const changes = ofUrl.get(url)
      if (changes === undefined) return loaded
      const source = changes.reduce((text, edit) => {
        pending.delete(edit)
        return edited(text, edit)
      }, String(loaded.source))
      return { ...loaded, source }
    },
  })
  return () => {
    for (const { file } of pending) throw new Error(`mutation ${name}: ${file} is not loaded, or was loaded before`)
  }
}

function edited(text: string, { file, from, to }: Edit): string {
  const parts = text.split(from)
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times the text: ${from}`)
  return parts.join(to)
}
