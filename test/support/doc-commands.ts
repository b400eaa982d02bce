import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A block of a page: commands and what they need, the output of the commands before it, or a file that they use. */
export type DocBlock =
  | { readonly kind: 'run'; readonly needs: string; readonly line: number; readonly text: string }
  | { readonly kind: 'output'; readonly line: number; readonly text: string }
  | { readonly kind: 'file'; readonly name: string; readonly text: string }

export const ROOT = join(import.meta.dirname, '../..')

/**
 * The fenced blocks of a page. The comment above a block says what it is: `run: NEEDS` for commands, `output` for what they
 * print, `file: NAME` for a file. A block without such a comment is an error, so that every command is tested.
 */
export function docBlocks(page: string): readonly DocBlock[] {
  const text = readFileSync(join(ROOT, page), 'utf8')
  return [...text.matchAll(/^(?:<!-- (run|file|output)(?:: (\S+))? -->\n)?```(\w*)\n([\s\S]*?)^```$/gm)].map(
    ({ 1: kind, 2: word = '', 3: language, 4: body = '', index }) => {
      const line = text.slice(0, index).split('\n').length
      if (kind === 'file' && word !== '') return { kind, name: word, text: body }
      if (kind === 'output') return { kind, line, text: body }
      if (kind !== 'run' || language !== 'sh') throw new Error(`${page}:${line}: the block does not say what it needs`)
      return { kind, needs: word, line, text: body }
    },
  )
}
