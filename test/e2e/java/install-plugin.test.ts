import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseCoordinates } from '../../../src/java/maven/coordinates.ts'
import { installPlugin, LOCK_FILE } from '../../../src/java/maven/install-plugin.ts'
import { type InstallProgress, PluginResolver } from '../../../src/java/maven/plugin-resolver.ts'
import { describeOn, real } from '../../env/real.ts'
import { dependencies, dependency, TestMavenRepository } from '../../support/maven-repository.ts'
import { type InstallOptions, installTestPlugin, lockedFiles, SILENT } from '../../support/plugin-installation.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const javaHost = await real('javaHost')
const PLUGIN = 'org.example:plugin:1.0'
const sha512 = (text: string) => createHash('sha512').update(text).digest('hex')

describeOn([javaHost], 'the installation of a plugin', () => {
  it('writes its jars and what they are into a directory of its own', async () => {
    const { repository, path } = await prepared()
    const directory = join(path, 'plugin-1.0')
    const steps: string[] = []
    let received = 0
    const progress: InstallProgress = {
      begin: (count) => void steps.push(`of ${count}`),
      received(bytes) {
        received += bytes
      },
      downloaded: () => void steps.push('one'),
    }
    const installation = await install(repository, path, progress)
    expect(installation).toEqual({ directory, files: 3, bytes: 58, isUnchanged: false })
    expect([steps, received]).toEqual([['of 3', 'one', 'one', 'one'], 58])
    expect(readdirSync(path)).toEqual(['plugin-1.0'])
    expect(readdirSync(directory).sort()).toEqual([
      'org.example.library-2.jar',
      'other.library-2.jar',
      'plugin-1.0.jar',
      LOCK_FILE,
    ])
    expect(statSync(directory).mode & 0o777).toBe(0o755)
    expect(JSON.parse(readFileSync(join(directory, LOCK_FILE), 'utf8'))).toEqual({
      plugin: PLUGIN,
      provided: ['org.apache.kafka:connect-api'],
      files: [
        locked('plugin-1.0.jar', PLUGIN, repository.url),
        locked('org.example.library-2.jar', 'org.example:library:2', repository.url),
        locked('other.library-2.jar', 'other:library:2', repository.url),
      ],
    })
  })

  it('does nothing when it is repeated, not even a request', async () => {
    const { repository, path } = await prepared()
    await install(repository, path)
    repository.requests.length = 0
    expect(await install(repository, path)).toMatchObject({ files: 3, isUnchanged: true })
    expect(repository.requests).toEqual([])
  })

  it('refuses a directory that is something else, or was changed', async () => {
    const { repository, path } = await prepared()
    const directory = join(path, 'plugin-1.0')
    mkdirSync(directory, { recursive: true })
    await expect(install(repository, path)).rejects.toThrow(`has no ${LOCK_FILE}: remove it`)
    writeFileSync(join(directory, LOCK_FILE), '{"plugin":"a:plugin:1.0","provided":[],"files":[]}')
    await expect(install(repository, path)).rejects.toThrow('is an installation of a:plugin:1.0')
    const other = temporaryDirectory()
    const installed = await install(repository, other)
    writeFileSync(join(installed.directory, 'plugin-1.0.jar'), 'changed')
    await expect(install(repository, other)).rejects.toThrow('its plugin-1.0.jar is missing or was changed')
  })

  it('succeeds twice at the same time', async () => {
    const { repository, path } = await prepared()
    const both = await Promise.all([install(repository, path), install(repository, path)])
    expect(both.map(({ files }) => files)).toEqual([3, 3])
    expect(readdirSync(path)).toEqual(['plugin-1.0'])
  })

  it.each<[string, (repository: TestMavenRepository) => void, string]>([
    ['has another content than its checksum says', (files) => change(files, { content: 'other' }), 'its checksum is'],
    ['has no checksum', (files) => change(files, { checksums: {} }), 'has no checksum of it'],
    [
      'has a checksum that is none',
      (files) => change(files, { checksums: { sha256: '<html>' } }),
      'has no checksum of it',
    ],
    [
      'has a wrong stronger checksum',
      (files) => change(files, { checksums: { sha512: sha512('x'), sha1: 'f'.repeat(40) } }),
      'its checksum is',
    ],
    ['is missing', (files) => files.files.delete(JAR), 'has no other:library:2'],
    ['is refused', (files) => answer(files, JAR, 401), 'answers with HTTP status 401'],
    ['stays unavailable', (files) => answer(files, JAR, 503), 'HTTP status 503'],
  ])('leaves nothing behind when a file %s', async (_, damage, message) => {
    const { repository, path } = await prepared()
    damage(repository)
    await expect(install(repository, path)).rejects.toThrow(message)
    expect(existsSync(path) ? readdirSync(path) : []).toEqual([])
  })

  it('repeats requests that fail for a moment, also within a file', async () => {
    const { repository, path } = await prepared()
    let failures = 0
    repository.intercept = ({ url }, response) => {
      if (!url?.endsWith('library-2.jar') || ++failures > 2) return false
      if (failures === 1) response.writeHead(503).end()
      else {
        response.writeHead(200, { 'content-length': '1000' }).write('half')
        setImmediate(() => response.destroy())
      }
      return true
    }
    expect(await install(repository, path, SILENT, 10_000)).toMatchObject({ files: 3 })
  })

  it('sends the credentials of the address, and records the address without them', async () => {
    const { repository, path } = await prepared()
    const sent = new Set<string | undefined>()
    repository.intercept = ({ headers }) => {
      sent.add(headers.authorization)
      return false
    }
    const url = repository.url.replace('://', '://joe:p%40ss@')
    const { directory } = await install({ url }, path)
    expect([...sent]).toEqual([`Basic ${Buffer.from('joe:p@ss').toString('base64')}`])
    expect(readFileSync(join(directory, LOCK_FILE), 'utf8')).not.toContain('joe')
  })
})

describeOn([javaHost], 'the address of a repository', () => {
  it('must not be one of HTTP on another machine, also if a POM names it', async () => {
    const { repository, path } = await prepared()
    const other = repository.url.replace('127.0.0.1', '0.0.0.0')
    await expect(install({ url: other }, path)).rejects.toThrow(
      `${other} is not a repository: an HTTPS address is expected`,
    )
    const named = `<repositories><repository><id>other</id><url>${other}</url></repository></repositories>`
    repository.add({ name: PLUGIN, pom: `${named}${dependencies('org.example:elsewhere:1')}` })
    repository.requests.length = 0
    await expect(install(repository, path)).rejects.toThrow()
    expect(repository.requests.filter((one) => one.includes('elsewhere') && !one.endsWith('.pom'))).toEqual([])
  })

  it('must not redirect to HTTP, also if that redirects to an allowed address', async () => {
    const { repository, path } = await prepared()
    const other = repository.url.replace('127.0.0.1', '0.0.0.0')
    repository.intercept = ({ url = '', headers }, response) => {
      const isOther = headers.host === new URL(other).host
      if (!isOther && !url.endsWith('.pom')) return false
      if (!isOther && url.includes('?moved')) return false
      response
        .writeHead(302, { location: `${isOther ? repository.url : other}${url.replace('/maven', '')}?moved` })
        .end()
      return true
    }
    await expect(install(repository, path)).rejects.toMatchObject({
      code: 'repository_unavailable',
      message: expect.stringContaining(`redirects to ${new URL(other).origin}, which is not HTTPS`),
    })
    expect(repository.requests.filter((request) => request.includes('moved'))).toEqual([])
  })

  it('gets its credentials, and an address to which it redirects does not', async () => {
    const { repository, path } = await prepared()
    const received = new Set<string>()
    const other = repository.url.replace('127.0.0.1', 'localhost')
    repository.intercept = ({ url = '', headers }, response) => {
      const host = new URL(`http://${headers.host}`).hostname
      received.add(`${host} ${headers.authorization}`)
      if (host === 'localhost') return false
      response.writeHead(302, { location: other.replace('/maven', url) }).end()
      return true
    }
    await install({ url: repository.url.replace('//', '//user:password@') }, path)
    expect([...received].sort()).toEqual(['127.0.0.1 Basic dXNlcjpwYXNzd29yZA==', 'localhost undefined'])
  })

  it('must not redirect for ever', async () => {
    const { repository, path } = await prepared()
    repository.intercept = ({ url = '' }, response) => {
      response.writeHead(302, { location: url }).end()
      return true
    }
    await expect(install(repository, path)).rejects.toThrow('redirects more than 10 times')
  })
})

describeOn([javaHost], 'several repositories', () => {
  const vendor = 'vendor.example:library:1'
  const named = (url: string) =>
    `<repositories><repository><id>vendor</id><url>${url}</url></repository></repositories>`

  it('are those that the POM of the plugin names', async () => {
    const other = await TestMavenRepository.start({ name: vendor })
    const central = await TestMavenRepository.start({
      name: PLUGIN,
      pom: `${named(other.url)}${dependencies(vendor)}`,
    })
    expect(await lockedFiles(installFrom({ repositories: [at(central)] }, directory()))).toEqual([
      locked('plugin-1.0.jar', PLUGIN, central.url),
      locked('library-1.jar', vendor, other.url),
    ])
  })

  it('are those that are given', async () => {
    const other = await TestMavenRepository.start({ name: vendor })
    const central = await TestMavenRepository.start({ name: PLUGIN, pom: dependencies(vendor) })
    await expect(installFrom({ repositories: [at(central)] }, directory())).rejects.toMatchObject({
      code: 'artifact_not_found',
    })
    const repositories = [at(central), { id: 'second', url: other.url }]
    expect(await lockedFiles(installFrom({ repositories }, directory()))).toHaveLength(2)
  })

  it('are read through the mirror of settings.xml, with its credentials', async () => {
    const { repository } = await prepared()
    const sent = new Set<string | undefined>()
    repository.intercept = ({ headers }) => {
      sent.add(headers.authorization)
      return false
    }
    const settingsFile = settings(`
      <mirrors><mirror><id>company</id><mirrorOf>*</mirrorOf><url>${repository.url}</url></mirror></mirrors>
      <servers><server><id>company</id><username>joe</username><password>secret</password></server></servers>`)
    const repositories = [{ id: 'central', url: 'https://no.example/maven2' }]
    const files = await lockedFiles(installFrom({ repositories, settingsFile }, directory()))
    expect(files.map(({ repository: url }) => url)).toEqual([repository.url, repository.url, repository.url])
    expect([...sent]).toEqual([`Basic ${btoa('joe:secret')}`])
  })

  it('are those of an active profile of settings.xml', async () => {
    const { repository } = await prepared()
    const settingsFile = settings(`
      <profiles><profile><id>p</id><repositories>
        <repository><id>mine</id><url>${repository.url}</url></repository>
      </repositories></profile></profiles>
      <activeProfiles><activeProfile>p</activeProfile></activeProfiles>`)
    expect(await lockedFiles(installFrom({ repositories: [], settingsFile }, directory()))).toHaveLength(3)
  })

  it('are not read if settings.xml cannot be used', async () => {
    const installing = installFrom({ repositories: [], settingsFile: settings('<mirrors>') }, directory())
    await expect(installing).rejects.toMatchObject({ code: 'invalid_maven_settings' })
  })
})

it('an installation without Java says what is missing', async () => {
  const installing = (options: object) =>
    installPlugin(
      parseCoordinates(PLUGIN),
      new PluginResolver({
        ...{ repositories: [], settingsFile: '', javaHome: '', hostDirectory: '/nowhere' },
        ...options,
      }),
      temporaryDirectory(),
      SILENT,
    )
  await expect(installing({ javaHome: '/no/java' })).rejects.toMatchObject({ code: 'java_missing' })
  if (existsSync('/usr/bin/java')) await expect(installing({})).rejects.toMatchObject({ code: 'java_host_missing' })
})

const JAR = 'other/library/2/library-2.jar'

const directory = () => join(temporaryDirectory(), 'plugins')
const at = ({ url }: TestMavenRepository) => ({ id: 'central', url })

function settings(elements: string): string {
  const file = join(temporaryDirectory(), 'settings.xml')
  writeFileSync(file, `<settings>${elements}</settings>`)
  return file
}

async function prepared() {
  const repository = await TestMavenRepository.start(
    {
      name: PLUGIN,
      pom: dependencies(
        'org.example:library:2',
        'other:library:2',
        'org.apache.kafka:connect-api:4.3.1',
        dependency('org.example:test:1', '<scope>test</scope>'),
      ),
    },
    { name: 'org.example:library:2' },
    { name: 'other:library:2' },
  )
  return { repository, path: join(temporaryDirectory(), 'plugins') }
}

function install({ url }: Pick<TestMavenRepository, 'url'>, path: string, progress = SILENT, retryMs = 0) {
  return installFrom({ repositories: [{ id: 'central', url }], retryMs }, path, progress)
}

function installFrom(options: InstallOptions, path: string, progress = SILENT) {
  return installTestPlugin({ hostDirectory: javaHost.address.directory, ...options }, PLUGIN, path, progress)
}

function locked(file: string, artifact: string, repository: string) {
  return { file, artifact, repository, bytes: artifact.length, sha512: sha512(artifact) }
}

function change({ files }: TestMavenRepository, to: { content?: string; checksums?: Record<string, string> }): void {
  const { content, checksums } = files.get(JAR)!
  files.set(JAR, {
    content: to.content === undefined ? content : Buffer.from(to.content),
    checksums: to.checksums ?? checksums,
  })
}

function answer(repository: TestMavenRepository, path: string, status: number): void {
  repository.intercept = ({ url }, response) => {
    if (!url?.endsWith(path)) return false
    response.writeHead(status).end()
    return true
  }
}
