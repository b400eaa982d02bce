import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

type File = { content: Buffer; checksums: Record<string, string> }

export type TestArtifact = {
  /** `GROUP:ARTIFACT:VERSION`. */
  readonly name: string
  /** Elements of the POM after the coordinates. */
  readonly pom?: string
  readonly jar?: string | null
  readonly classifier?: string
}

/** A Maven repository on this machine, whose files can be changed. */
export class TestMavenRepository {
  /** By path. Checksums by algorithm. */
  readonly files = new Map<string, File>()
  /** The paths of all requests. */
  readonly requests: string[] = []
  /** Answers a request itself if it returns true. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean = () => false
  #url = ''

  static async start(...artifacts: readonly TestArtifact[]): Promise<TestMavenRepository> {
    const repository = new TestMavenRepository()
    const server = createServer((request, response) => repository.#answer(request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    repository.#url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/maven`
    for (const artifact of artifacts) repository.add(artifact)
    return repository
  }

  get url(): string {
    return this.#url
  }

  /** Adds an artifact; by default with a jar whose content is its name. */
  add({ name, pom = '', jar = name, classifier }: TestArtifact): void {
    const [group = '', artifact = '', version = ''] = name.split(':')
    const base = `${group.replaceAll('.', '/')}/${artifact}/${version}/${artifact}-${version}`
    const text = `<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version>
  ${pom}
</project>`
    if (classifier === undefined) this.put(`${base}.pom`, text)
    if (jar !== null) this.put(`${base}${classifier === undefined ? '' : `-${classifier}`}.jar`, jar)
  }

  put(path: string, text: string): void {
    const content = Buffer.from(text)
    this.files.set(path, { content, checksums: { sha1: createHash('sha1').update(content).digest('hex') } })
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = decodeURIComponent(request.url ?? '').replace(/^\/maven\//, '')
    this.requests.push(path)
    if (this.intercept(request, response)) return
    const [, file = path, algorithm] = /^(.*)\.(sha512|sha256|sha1)$/.exec(path) ?? []
    const found = this.files.get(file)
    const content = algorithm === undefined ? found?.content : found?.checksums[algorithm]
    response.writeHead(content === undefined ? 404 : 200).end(content)
  }
}

/** The element of a dependency. */
export function dependency(name: string, elements = ''): string {
  const [group, artifact, version] = name.split(':')
  const written = version === undefined ? '' : `<version>${version}</version>`
  return `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId>${written}${elements}</dependency>`
}

export function dependencies(...names: readonly string[]): string {
  return `<dependencies>${names.map((one) => (one.startsWith('<') ? one : dependency(one))).join('')}</dependencies>`
}

export function managed(...names: readonly string[]): string {
  return `<dependencyManagement>${dependencies(...names)}</dependencyManagement>`
}

export function parent(name: string): string {
  const [group, artifact, version] = name.split(':')
  return `<parent><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></parent>`
}
