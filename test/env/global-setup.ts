import type { TestProject } from 'vitest/node'
import { openHost } from './host.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where `real` asks for parts. */
    envUrl: string
  }
}

/** Called by vitest before the first test; what it returns is called after the last one, also on Ctrl-C. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const host = await openHost()
  project.provide('envUrl', host.url)
  return () => host.close()
}
