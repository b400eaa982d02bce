import { basename, join } from 'node:path'
import { freePort } from '../../env/ports.ts'
import { type Server, startServer, untilReady } from '../../env/process.ts'
import { accepts } from '../../env/tcp.ts'
import { partDirectory } from '../../env/workspace.ts'

export type BareProcess = { readonly url: string; readonly server: Server }

/** Starts a script that serves HTTP or HTTPS. Its first argument is the port. */
export async function startBareProcess(
  script: string,
  args: readonly string[],
  scheme: 'http' | 'https' = 'http',
): Promise<BareProcess> {
  const directory = partDirectory('bare')
  const port = await freePort()
  const logFile = join(directory, 'output.log')
  const command = {
    file: process.execPath,
    args: [script, String(port), ...args],
    directory,
  }
  const server = startServer(command, logFile)
  const what = { what: basename(script), logFiles: [logFile], timeoutMs: 10_000 }
  await untilReady(server, what, () => accepts(`127.0.0.1:${port}`))
  return { url: `${scheme}://127.0.0.1:${port}`, server }
}
