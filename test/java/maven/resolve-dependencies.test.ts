import { describe, expect, it } from 'vitest'
import { formatCoordinates, parseCoordinates } from '../../../src/java/maven/coordinates.ts'
import { MavenRepository } from '../../../src/java/maven/maven-repository.ts'
import { resolveDependencies } from '../../../src/java/maven/resolve-dependencies.ts'
import {
  dependencies,
  dependency,
  managed,
  parent,
  type TestArtifact,
  TestMavenRepository,
} from '../../support/maven-repository.ts'

describe('the dependencies of an artifact', () => {
  it('are those of its dependencies, too, each once', async () => {
    expect(
      await resolved(
        { name: 'g:root:1', pom: dependencies('g:a:1', 'g:b:1') },
        { name: 'g:a:1', pom: dependencies('g:c:1') },
        { name: 'g:b:1', pom: dependencies('g:c:1', 'g:a:1', 'g:root:1') },
        { name: 'g:c:1' },
      ),
    ).toEqual(['g:root:1', 'g:a:1', 'g:b:1', 'g:c:1'])
  })

  it('are in the version that is declared nearest, then first', async () => {
    expect(
      await resolved(
        { name: 'g:root:1', pom: dependencies('g:a:1', 'g:b:1', 'g:d:3') },
        { name: 'g:a:1', pom: dependencies('g:c:1', 'g:d:1') },
        { name: 'g:b:1', pom: dependencies('g:c:2', 'g:d:2') },
        { name: 'g:c:1' },
        { name: 'g:d:3' },
      ),
    ).toEqual(['g:root:1', 'g:a:1', 'g:b:1', 'g:d:3', 'g:c:1'])
  })

  it('are not optional ones, and none of other scopes than compile and runtime', async () => {
    const scoped = (name: string, scope: string) => dependency(name, `<scope>${scope}</scope>`)
    const pom = dependencies(
      dependency('g:optional:1', '<optional>true</optional>'),
      scoped('g:test:1', 'test'),
      scoped('g:provided:1', 'provided'),
      dependency('g:system:${unknown}', '<scope>system</scope>'),
      scoped('g:runtime:1', 'runtime'),
    )
    expect(await resolved({ name: 'g:root:1', pom }, { name: 'g:runtime:1' })).toEqual(['g:root:1', 'g:runtime:1'])
  })

  it('are not those that are excluded, below the dependency that excludes them', async () => {
    const exclusion = (artifact: string) =>
      `<exclusions><exclusion><groupId>g</groupId><artifactId>${artifact}</artifactId></exclusion></exclusions>`
    expect(
      await resolved(
        {
          name: 'g:root:1',
          pom: dependencies(dependency('g:a:1', exclusion('c')), dependency('g:b:1', exclusion('*'))),
        },
        { name: 'g:a:1', pom: dependencies('g:c:1', 'g:d:1') },
        { name: 'g:b:1', pom: dependencies('g:e:1') },
        { name: 'g:d:1', pom: dependencies('g:c:1') },
      ),
    ).toEqual(['g:root:1', 'g:a:1', 'g:b:1', 'g:d:1'])
  })

  it('have what their parents, properties, dependency management and imported BOMs say', async () => {
    const imported = dependency('g:bom:7', '<type>pom</type><scope>import</scope>')
    expect(
      await resolved(
        {
          name: 'g:root:1',
          pom: `${parent('g:parent:5')}<properties><b>2</b></properties>${dependencies('g:a', 'g:${name}:${b}', 'g:c')}`,
        },
        {
          name: 'g:parent:5',
          jar: null,
          pom: `<properties><b>1</b><name>b</name><a>\${project.version}.0</a></properties>${managed('g:a:${a}', imported)}`,
        },
        { name: 'g:bom:7', jar: null, pom: managed('g:c:${project.version}', 'g:a:9', 'g:deep:4') },
        { name: 'g:a:1.0', pom: dependencies('g:deep:1') },
        { name: 'g:b:2' },
        { name: 'g:c:7' },
        { name: 'g:deep:4' },
      ),
    ).toEqual(['g:root:1', 'g:a:1.0', 'g:b:2', 'g:c:7', 'g:deep:4'])
  })

  it('follow relocations, and version ranges to the newest release', async () => {
    const repository = await TestMavenRepository.start(
      { name: 'g:root:1', pom: dependencies('g:old:1', 'g:ranged:[1.0,2.0)', 'g:twice:1') },
      { name: 'g:twice:1', pom: dependencies('g:new:1') },
      {
        name: 'g:old:1',
        jar: null,
        pom: '<distributionManagement><relocation><artifactId>new</artifactId></relocation></distributionManagement>',
      },
      { name: 'g:new:1', pom: dependencies('g:of-new:1') },
      { name: 'g:of-new:1' },
      { name: 'g:ranged:1.10' },
    )
    const versions = ['0.9', '1.10', '1.9', '1.11-SNAPSHOT', '2.0'].map((version) => `<version>${version}</version>`)
    repository.put(
      'g/ranged/maven-metadata.xml',
      `<metadata><versioning><versions>${versions.join('')}</versions></versioning></metadata>`,
    )
    const { files } = await resolve(repository)
    expect(files).toEqual(['g:root:1', 'g:new:1', 'g:ranged:1.10', 'g:twice:1', 'g:of-new:1'])
  })

  it('are not those that the Java host has', async () => {
    const repository = await TestMavenRepository.start(
      {
        name: 'g:root:1',
        pom: dependencies('org.apache.kafka:connect-api:4.3.1', 'org.slf4j:slf4j-api:2.0.17', 'g:a:1'),
      },
      { name: 'g:a:1', pom: dependencies('org.apache.kafka:connect-json:4.3.1') },
    )
    expect(await resolve(repository)).toEqual({
      files: ['g:root:1', 'g:a:1'],
      provided: ['org.apache.kafka:connect-api', 'org.apache.kafka:connect-json', 'org.slf4j:slf4j-api'],
    })
  })
})

describe('a POM that cannot be used', () => {
  it.each<[string, string, TestArtifact[]]>([
    ['is not XML', 'the POM of g:a:pom:1 cannot be used: ', [{ name: 'g:a:1', pom: '<dependencies>' }]],
    [
      'imports itself',
      'it imports itself',
      [{ name: 'g:a:1', pom: managed(dependency('g:a:1', '<type>pom</type><scope>import</scope>')) }],
    ],
    ['is its own ancestor', 'more than 32 ancestors', [{ name: 'g:a:1', pom: parent('g:a:1') }]],
    [
      'has no version for a dependency',
      'its dependency g:b has no version',
      [{ name: 'g:a:1', pom: dependencies('g:b') }],
    ],
    [
      'leads out of the directory',
      "'../../etc' is not a Maven name",
      [{ name: 'g:a:1', pom: dependencies('g:../../etc:1') }],
    ],
  ])('%s: the installation ends with a sentence', async (_, message, artifacts) => {
    await expect(resolved({ name: 'g:root:1', pom: dependencies('g:a:1') }, ...artifacts)).rejects.toThrow(message)
  })

  it('is missing: the message names it', async () => {
    await expect(resolved({ name: 'g:root:1', pom: dependencies('g:gone:1') })).rejects.toThrow(/has no g:gone:pom:1$/)
  })

  it('has entities and properties that grow: it is read in bounded time, without them', async () => {
    const doubled = Array.from(
      { length: 40 },
      (_, index) => `<p${index}>\${p${index + 1}}\${p${index + 1}}</p${index}>`,
    )
    const repository = await TestMavenRepository.start({
      name: 'g:root:1',
      pom: `<name>&oslash;</name><properties>${doubled.join('')}</properties>${dependencies(
        dependency('g:a:${p0}', '<scope>test</scope>'),
      )}`,
    })
    expect((await resolve(repository)).files).toEqual(['g:root:1'])
  })
})

async function resolved(...artifacts: readonly TestArtifact[]): Promise<readonly string[]> {
  return (await resolve(await TestMavenRepository.start(...artifacts))).files
}

async function resolve({ url }: TestMavenRepository) {
  const { files, provided } = await resolveDependencies(parseCoordinates('g:root:1'), new MavenRepository(url))
  return { files: files.map(formatCoordinates), provided }
}
