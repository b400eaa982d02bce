import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseCoordinates } from '../../../src/java/maven/coordinates.ts'
import { type InstallProgress, installPlugin, LOCK_FILE } from '../../../src/java/maven/install-plugin.ts'
import { MavenRepository } from '../../../src/java/maven/maven-repository.ts'
import { dependencies, dependency, TestMavenRepository } from '../../support/maven-repository.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const PLUGIN = 'org.example:plugin:1.0'
const sha512 = (text: string) => createHash('sha512').update(text).digest('hex')

describe('the installation of a plugin', () => {
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
      repository: repository.url,
      provided: ['org.apache.kafka:connect-api'],
      files: [
        { file: 'plugin-1.0.jar', artifact: PLUGIN, bytes: PLUGIN.length, sha512: sha512(PLUGIN) },
        locked('org.example.library-2.jar', 'org.example:library:2'),
        locked('other.library-2.jar', 'other:library:2'),
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
    writeFileSync(join(directory, LOCK_FILE), '{"plugin":"a:plugin:1.0","repository":"","provided":[],"files":[]}')
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
    ['has another content than its checksum says', (files) => change(files, { content: 'other' }), 'its sha1 is'],
    ['has no checksum', (files) => change(files, { checksums: {} }), 'has no checksum of it'],
    ['has a checksum that is none', (files) => change(files, { checksums: { sha256: '<html>' } }), 'is not a checksum'],
    [
      'has a wrong stronger checksum',
      (files) => change(files, { checksums: { sha512: sha512('x'), sha1: 'f'.repeat(40) } }),
      'its sha512 is',
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
    const source = new MavenRepository(url)
    const { directory } = await installPlugin(parseCoordinates(PLUGIN), source, path, SILENT)
    expect([...sent]).toEqual([`Basic ${Buffer.from('joe:p@ss').toString('base64')}`])
    expect(readFileSync(join(directory, LOCK_FILE), 'utf8')).not.toContain('joe')
  })
})

describe('the address of a repository', () => {
  it.each(['http://repository.example/maven', 'ftp://x', 'maven'])('must not be %s', (address) => {
    expect(() => new MavenRepository(address)).toThrow('an HTTPS address is expected')
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
    const url = repository.url.replace('//', '//user:password@')
    await installPlugin(parseCoordinates(PLUGIN), new MavenRepository(url, { retryMs: 0 }), path, SILENT)
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

describe('coordinates', () => {
  it.each(['a:b', 'a:b:1:c', 'a:b:LATEST', 'a:b:1-SNAPSHOT', '../a:b:1', 'a:b/c:1', 'a:..:1', 'a:b:1..2'])(
    '%s are refused',
    (text) => {
      expect(() => parseCoordinates(text)).toThrow(`'${text}'`)
    },
  )
})

const SILENT: InstallProgress = { begin: () => undefined, received: () => undefined, downloaded: () => undefined }
const JAR = 'other/library/2/library-2.jar'

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

function install({ url }: TestMavenRepository, path: string, progress = SILENT, retryMs = 0) {
  return installPlugin(parseCoordinates(PLUGIN), new MavenRepository(url, { retryMs }), path, progress)
}

function locked(file: string, artifact: string) {
  return { file, artifact, bytes: artifact.length, sha512: sha512(artifact) }
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
