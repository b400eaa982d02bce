import type { TestProject } from 'vitest/node'
import { builtProgram } from './built-program.ts'
import { openHost } from './host.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** URL at which `real` requests parts. */
    envUrl: string
    /** Variables with which `weirCommand` starts the programs, see program-environment.ts. */
    programEnvironment: Readonly<Record<string, string>>
  }
}

/** Called by vitest before the first test. Vitest calls the returned function after the last test, also on Ctrl-C. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // In watch mode, a build would be that of the sources before. The variable selects another program.
  const isFromSource = project.vitest.config.watch || process.env['WEIR_CLI'] !== undefined
  project.provide('programEnvironment', isFromSource ? {} : await builtProgram())
  const host = await openHost()
  project.provide('envUrl', host.url)
  return () => host.close()
}
