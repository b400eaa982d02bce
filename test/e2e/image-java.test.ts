import { chmodSync, copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Container, type Image, imageWay } from '../env/image.ts'
import { compileJava } from '../env/javac.ts'
import { describeOn, real } from '../env/real.ts'
import { partDirectory } from '../env/workspace.ts'
import { filesIn, machineOf, unpackImage } from '../support/image-files.ts'
import { until } from '../support/until.ts'

const [image, javaHost] = [await real('image'), await real('javaHost')]
/** The first build on a machine downloads a JDK for each architecture. */
const BUILD_MS = 1_200_000
const WAIT = { everyMs: 500, timeoutMs: 120_000 }
const BYTES_MAX = 160_000_000
const CONNECTORS = 'org.apache.kafka.connect.file.FileStream'

describeOn([image, javaHost], 'the container image with Java', () => {
  const way = imageWay(image.address)
  let built: Image
  let container: Container
  beforeAll(async () => {
    built = await way.build({ version: 'test', target: 'java' })
    const settings = ['listeners=http://127.0.0.1:8083', 'plugin.path=/plugins', 'java.host.heap.max=64m']
    container = await way.start(built, {
      args: ['worker', '--data', '/data', ...settings.flatMap((setting) => ['--set', setting])],
      writable: ['/data', '/tmp'],
      hidden: [],
      mounted: [{ from: await pluginDirectory(), to: '/plugins' }],
    })
    return async () => void (await container.stop())
  }, BUILD_MS)

  it('runs source and sink connectors from a mounted directory of jars', async () => {
    await until('the worker to be healthy', WAIT, async () => {
      const { code } = await container.exec(built.config.healthcheck)
      return code === 0
    })
    const string = 'org.apache.kafka.connect.storage.StringConverter'
    const common = { 'key.converter': string, 'value.converter': string }
    const source = {
      'connector.class': `${CONNECTORS}SourceConnector`,
      file: '/plugins/Überschrift.txt',
      topic: 'lines',
    }
    const sink = { 'connector.class': `${CONNECTORS}SinkConnector`, file: '/tmp/Überschrift.txt', topics: 'lines' }
    for (const [name, config] of Object.entries({ source, sink })) {
      expect(await createConnector(container, name, { ...common, ...config })).toBe('201')
    }
    const written = `try { fs.readFileSync('/tmp/Überschrift.txt', 'utf8') } catch { '' }`
    await until('the lines', WAIT, async () => {
      const { stdout } = await container.exec(['node', '-p', written])
      return stdout === 'größer\nkleiner\n\n'
    })
    expect(await container.output()).not.toMatch(/EROFS|EACCES|could not be loaded/)
  })

  it('has what plugins use of a Java runtime', async () => {
    const java = [
      '/opt/java/bin/java',
      '-cp',
      '/plugins/probe',
      'RuntimeProbe',
      '/plugins/connect-file/connect-file.jar',
    ]
    expect(await container.exec(java)).toEqual({
      code: 0,
      stderr: '',
      stdout: `default charset: UTF-8
charset of a database: windows-31j
number of a locale: 1.234,5
elliptic curves: EC
trusted authorities: true
SASL: true
Kerberos: Krb5LoginModule
JDBC: false
JMX: DefaultDomain
memory of the machine: true
DNS records: true
HTTP client: HTTP_2
HTTP server: HttpServer
XML: false
zip file systems: true
beans: Thread
Unsafe: Unsafe
flight recorder: true
`,
    })
  })

  describe.each(['amd64', 'arm64'] as const)('for %s', (architecture) => {
    let java: string
    let host: string
    beforeAll(async () => {
      const image = await way.build({ version: 'test', target: 'java', architecture })
      const root = await unpackImage(way, image, 'opt/java', 'weir/java/host/lib')
      java = join(root, 'opt/java')
      host = join(root, 'weir/java/host/lib')
    }, BUILD_MS)

    it('has a Java runtime of this architecture, with the licenses of its parts and no tools of a JDK', () => {
      const files = filesIn(java)
      const native = files.filter((name) => /\.so$|^bin\//.test(name))
      expect(native.length).toBeGreaterThan(20)
      expect(native.filter((name) => machineOf(join(java, name)) !== architecture)).toEqual([])
      expect(files).toEqual(expect.arrayContaining(['bin/java', 'bin/jcmd', 'legal/java.base/LICENSE']))
      expect(files.filter((name) => /^(?:bin\/(?:javac|jlink)|include|man|jmods)/.test(name))).toEqual([])
    })

    it('has the Java host, and exactly the libraries that Maven resolves for it', () => {
      const { directory } = javaHost.address
      const files = filesIn(directory).toSorted()
      expect(filesIn(host).toSorted()).toEqual(files)
      // The host itself depends on the version of javac.
      const libraries = files.filter((name) => name !== 'weir-java-host.jar')
      const isEqual = (name: string) => readFileSync(join(host, name)).equals(readFileSync(join(directory, name)))
      expect(libraries.filter((name) => !isEqual(name))).toEqual([])
    })

    it(`is at most ${BYTES_MAX / 1e6} MB larger than the image without Java`, () => {
      const sizes = [java, host].flatMap((folder) => filesIn(folder).map((name) => statSync(join(folder, name)).size))
      const bytes = sizes.reduce((sum, size) => sum + size, 0)
      expect(bytes).toBeGreaterThan(50_000_000)
      expect(bytes).toBeLessThan(BYTES_MAX)
    })
  })
})

/** Kafka's jar, a file to read, and the class of the probe. The user of the image can read them. */
async function pluginDirectory(): Promise<string> {
  const directory = partDirectory('plugins')
  for (const folder of ['.', 'connect-file', 'probe']) {
    mkdirSync(join(directory, folder), { recursive: true })
    chmodSync(join(directory, folder), 0o755)
  }
  copyFileSync(javaHost.address.jars.file, join(directory, 'connect-file/connect-file.jar'))
  writeFileSync(join(directory, 'Überschrift.txt'), 'größer\nkleiner\n')
  const source = join(import.meta.dirname, '../support/java/RuntimeProbe.java')
  await compileJava([source], { directory: join(directory, 'probe'), options: ['--release', '17'] })
  return directory
}

/** Returns the HTTP status of the request, as text. */
async function createConnector(container: Container, name: string, config: object): Promise<string> {
  const request = {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...config, 'tasks.max': '1' }),
  }
  const script = `
    const { status } = await fetch('http://127.0.0.1:8083/connectors/${name}/config', ${JSON.stringify(request)})
    console.log(status)`
  const { stdout } = await container.exec(['node', '--input-type=module', '-e', script])
  return stdout.trim()
}
