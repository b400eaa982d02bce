import { join } from 'node:path'
import { expect, it } from 'vitest'
import { UserError } from '../../../src/common/errors.ts'
import { describeOn, real } from '../../env/real.ts'
import {
  dependencies,
  dependency,
  managed,
  parent,
  type TestArtifact,
  TestMavenRepository,
} from '../../support/maven-repository.ts'
import { installTestPlugin, lockedFiles } from '../../support/plugin-installation.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const javaHost = await real('javaHost')

describeOn([javaHost], 'the dependencies of an artifact', () => {
  it('are in the version that is declared nearest, then first, each once', async () => {
    expect(
      await resolved(
        { name: 'g:root:1', pom: dependencies('g:a:1', 'g:b:1', 'g:d:3') },
        { name: 'g:a:1', pom: dependencies('g:c:1', 'g:d:1') },
        { name: 'g:b:1', pom: dependencies('g:c:2', 'g:d:2', 'g:root:1') },
        { name: 'g:c:1' },
        { name: 'g:c:2' },
        { name: 'g:d:1' },
        { name: 'g:d:2' },
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
    const packaging = '<packaging>pom</packaging>'
    expect(
      await resolved(
        {
          name: 'g:root:1',
          pom: `${parent('g:parent:5')}<properties><b>2</b></properties>${dependencies('g:a', 'g:${name}:${b}', 'g:c')}`,
        },
        {
          name: 'g:parent:5',
          jar: null,
          pom: `${packaging}<properties><b>1</b><name>b</name><a>1.0</a></properties>${managed('g:a:${a}', imported)}`,
        },
        { name: 'g:bom:7', jar: null, pom: `${packaging}${managed('g:c:${project.version}', 'g:a:9', 'g:deep:4')}` },
        { name: 'g:a:1.0', pom: dependencies('g:deep:1') },
        { name: 'g:b:2' },
        { name: 'g:c:7' },
        { name: 'g:deep:4' },
      ),
    ).toEqual(['g:root:1', 'g:a:1.0', 'g:b:2', 'g:c:7', 'g:deep:4'])
  })

  it('follow relocations, and version ranges to the newest release', async () => {
    const repository = await TestMavenRepository.start(
      { name: 'g:root:1', pom: dependencies('g:old:1', 'g:ranged:[1.0,2.0)') },
      {
        name: 'g:old:1',
        jar: null,
        pom: '<distributionManagement><relocation><artifactId>new</artifactId></relocation></distributionManagement>',
      },
      { name: 'g:new:1', pom: dependencies('g:of-new:1') },
      { name: 'g:of-new:1' },
      { name: 'g:ranged:1.10' },
      { name: 'g:ranged:1.9' },
    )
    const versions = ['0.9', '1.10', '1.9', '1.11-SNAPSHOT', '2.0'].map((version) => `<version>${version}</version>`)
    repository.put(
      'g/ranged/maven-metadata.xml',
      `<metadata><versioning><versions>${versions.join('')}</versions></versioning></metadata>`,
    )
    expect(await resolvedIn(repository)).toEqual(['g:root:1', 'g:new:1', 'g:ranged:1.10', 'g:of-new:1'])
  })

  it('are not snapshots', async () => {
    const repository = await TestMavenRepository.start(
      { name: 'g:root:1', pom: dependencies('g:a:1-SNAPSHOT') },
      { name: 'g:a:1-SNAPSHOT' },
    )
    await expect(resolvedIn(repository)).rejects.toMatchObject({ code: 'artifact_not_found' })
  })
})

describeOn([javaHost], 'a POM that cannot be used', () => {
  it.each<[string, string, TestArtifact[]]>([
    ['is not XML', 'the POM of g:a', [{ name: 'g:a:1', pom: '<dependencies>' }]],
    [
      'imports itself',
      'the POM of g:a',
      [{ name: 'g:a:1', pom: managed(dependency('g:a:1', '<type>pom</type><scope>import</scope>')) }],
    ],
    ['is its own ancestor', 'the POM of g:a', [{ name: 'g:a:1', pom: parent('g:a:1') }]],
    ['has no version for a dependency', 'the POM of g:a', [{ name: 'g:a:1', pom: dependencies('g:b') }]],
    ['leads out of the directory', "'../../etc'", [{ name: 'g:a:1', pom: dependencies('g:../../etc:1') }]],
  ])('%s: the installation ends with a sentence', async (_, message, artifacts) => {
    const installing = resolved({ name: 'g:root:1', pom: dependencies('g:a:1') }, ...artifacts)
    await expect(installing).rejects.toMatchObject({
      code: 'invalid_pom',
      message: expect.stringContaining(message),
    })
  })

  it('is missing: the message names it', async () => {
    await expect(resolved({ name: 'g:root:1', pom: dependencies('g:gone:1') })).rejects.toThrow(/has no g:gone:pom:1$/)
  })

  it('has properties that grow: it is rejected within the memory of the JVM', async () => {
    const doubled = Array.from(
      { length: 60 },
      (_, index) => `<p${index}>\${p${index + 1}}\${p${index + 1}}</p${index}>`,
    )
    const pom = `<properties>${doubled.join('')}<p60>x</p60></properties>${dependencies('g:${p0}:1')}`
    await expect(resolved({ name: 'g:root:1', pom })).rejects.toThrow(UserError)
  })
})

async function resolved(...artifacts: readonly TestArtifact[]): Promise<readonly string[]> {
  return resolvedIn(await TestMavenRepository.start(...artifacts))
}

async function resolvedIn({ url }: TestMavenRepository): Promise<readonly string[]> {
  const options = { repositories: [{ id: 'central', url }], hostDirectory: javaHost.address.directory }
  const installing = installTestPlugin(options, 'g:root:1', join(temporaryDirectory(), 'plugins'))
  return (await lockedFiles(installing)).map(({ artifact }) => artifact)
}
