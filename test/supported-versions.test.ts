import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { JAVA_MIN } from '../src/java/java-runtime.ts'
import { SUPPORTED_VERSIONS } from './env/supported-versions.ts'
import { supportedVersionsPage } from './support/supported-versions-page.ts'

const ROOT = join(import.meta.dirname, '..')
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8')
const manifest = JSON.parse(textOf('package.json'))
const { node, kubernetes, helm, postgres, java } = SUPPORTED_VERSIONS

// `npx vitest run --project unit -u test/supported-versions.test.ts` writes the page.
it('docs/supported-versions.md is generated from the versions that the tests use', async () => {
  await expect(supportedVersionsPage()).toMatchFileSnapshot(join(ROOT, 'docs/supported-versions.md'))
})

describe('the declared versions', () => {
  it('of Node.js are those of the package, its development and the image', () => {
    expect(manifest.engines.node).toBe(`>=${node.oldest}`)
    expect(manifest.devDependencies.node).toBe(node.tested[0])
    expect(textOf('Dockerfile')).toContain(`ARG NODE=node:${node.tested[0]}-`)
  })

  it('of Kubernetes and Helm are those of the charts, their page and the programs that tests build', () => {
    for (const chart of ['weir', 'weir-crds'])
      expect(parse(textOf(`charts/${chart}/Chart.yaml`)).kubeVersion).toBe(`>=${kubernetes.oldest}.0-0`)
    expect(textOf('docs/install.md')).toContain(
      `Weir needs Kubernetes ${kubernetes.oldest} or newer and Helm ${helm.oldest}.`,
    )
    for (const module of ['kubernetes', 'kubectl'])
      expect(textOf(`test/env/go/${module}/go.mod`)).toContain(`k8s.io/kubernetes v${kubernetes.tested[0]}`)
    expect(textOf('test/env/go/helm/go.mod')).toContain(`helm.sh/helm/v3 v${helm.tested[0]}`)
  })

  it('of PostgreSQL are those that tests install, and that the page of its connector names', () => {
    expect(textOf('test/env/postgres-server.ts')).toContain(`PACKAGE_VERSION = '${postgres.tested[0]}.`)
    expect(textOf('test/env/postgres-docker.ts')).toContain(`'postgres:${postgres.tested[1]}'`)
    expect(textOf('docs/postgres-cdc.md')).toContain(`You need PostgreSQL ${postgres.oldest} or later`)
  })

  it('of Java are those of the host and of the image', () => {
    expect(JAVA_MIN).toBe(Number(java.oldest))
    expect(textOf('scripts/build-java-host.mjs')).toContain(`'--release', '${java.oldest}'`)
    expect(textOf('Dockerfile')).toContain(`openjdk-${java.tested[0]}-jdk-headless`)
  })
})
