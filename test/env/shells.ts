import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { findDebian, unpackDebian } from './debian.ts'
import type { Part } from './part.ts'

/** `debian`: for `withDebian`. The packages of zsh have its program in another directory than `/usr`. */
export type ShellsAddress = { readonly debian: string; readonly zsh: string }

const PACKAGES = ['zsh', 'fish', 'bash-completion']

/** The shells zsh and fish, and the completion of bash, from Debian's packages. */
export function shellsPart(name: string): Part<ShellsAddress> {
  return {
    name,
    version: 'any',
    find: () => findDebian(PACKAGES),
    async start() {
      const debian = await unpackDebian(PACKAGES)
      const zsh = join(debian, 'bin/zsh')
      return { address: { debian, zsh: existsSync(zsh) ? zsh : 'zsh' }, stop: async () => {} }
    },
  }
}
