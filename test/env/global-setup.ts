import type { TestProject } from 'vitest/node'
import { openHost } from './host.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** URL at which `real` requests parts. */
    envUrl: string
  }
}

/** Called by vitest before the first test. Vitest calls the returned function after the last test, also on Ctrl-C. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const host = await openHost()
  project.provide('envUrl', host.url)
  return () => host.close()
}
