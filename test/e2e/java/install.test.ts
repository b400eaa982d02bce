import { createReadStream, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { describeOn, real } from '../../env/real.ts'
import { runWeir as weir } from '../../support/cli.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const javaHost = await real('javaHost')

/** Maven's local repository, in which Maven has verified the checksums and kept them, as a repository on this machine. */
async function serveLocalRepository(): Promise<string> {
  const [root] = javaHost.address.jars.file.split('/org/apache/kafka/')
  const server = createServer((request, response) => {
    const file = join(root ?? '', decodeURIComponent(request.url ?? ''))
    stat(file).then(
      (stats) => (stats.isFile() ? createReadStream(file).pipe(response) : response.writeHead(404).end()),
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describeOn([javaHost], 'a plugin from a Maven repository', () => {
  it('is installed once, and listed with its version instead of the shipped one', async () => {
    const directory = temporaryDirectory()
    const repository = await serveLocalRepository()
    writeFileSync(
      join(directory, 'worker.properties'),
      `plugin.path=plugins\njava.host.directory=${javaHost.address.directory}\n`,
    )
    const install = () =>
      weir(
        directory,
        ...['plugins', 'install', 'org.apache.kafka:connect-file:4.3.1'],
        ...['--config', 'worker.properties', '--repository', repository],
      )
    expect(await install()).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('4.3.1 is installed in plugins/connect-file-4.3.1: 1 file'),
    })
    expect(await install()).toMatchObject({ code: 0, stdout: expect.stringContaining('is installed already') })

    const { code, stdout, stderr } = await weir(directory, 'plugins', 'list', '--json', '--config', 'worker.properties')
    expect([code, stderr]).toEqual([0, ''])
    const { plugins } = JSON.parse(stdout) as { readonly plugins: readonly object[] }
    expect(plugins).toContainEqual({
      class: 'org.apache.kafka.connect.file.FileStreamSourceConnector',
      type: 'source',
      version: '4.3.1',
      location: join(directory, 'plugins/connect-file-4.3.1'),
      replaces: 'FileStreamSource',
    })
  })
})
