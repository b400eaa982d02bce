import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { run } from '../../env/process.ts'
import { describeOn, real } from '../../env/real.ts'
import { runWeir as weir, weirCommand } from '../../support/cli.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const javaHost = await real('javaHost')
const fileStream = await real('fileStream')

describeOn([javaHost, fileStream], 'a plugin from a Maven repository', () => {
  it('is installed once, and listed with its version instead of the shipped one', async () => {
    const directory = temporaryDirectory()
    const { plugins: coordinates, repository } = fileStream.address
    writeFileSync(
      join(directory, 'worker.properties'),
      `plugin.path=plugins\njava.host.directory=${javaHost.address.directory}\n`,
    )
    const install = () =>
      weir(
        directory,
        ...['plugins', 'install', ...coordinates],
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

  it('is installed together with others, from the repository in MAVEN_REPOSITORY', async () => {
    const directory = temporaryDirectory()
    const { plugins: coordinates, repository } = fileStream.address
    writeFileSync(join(directory, 'worker.properties'), `java.host.directory=${javaHost.address.directory}\n`)
    const args = ['plugins', 'install', ...coordinates, 'no.such:artifact:1', '--config', 'worker.properties']
    const result = await run({ ...weirCommand(directory, args), env: { MAVEN_REPOSITORY: repository } })
    expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining('has no no.such:artifact:pom:1') })
    expect(result.stdout).toContain('connect-file:4.3.1 is installed in plugins/connect-file-4.3.1: 1 file, 0.0 MiB')
    expect(result.stderr).toContain('connect-file:4.3.1: downloading 1 file\n')
  })
})
