import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { crdOf } from '../../../src/operator/resources/custom-resource-definition.ts'
import { METADATA_KEYS, metadataKeysPage } from '../../support/metadata-keys.ts'
import { createReconcilerFixture } from '../../support/reconciler-fixture.ts'

// `npx vitest run --project unit -u test/operator/resources/annotations.test.ts` writes the page.

const ROOT = join(import.meta.dirname, '../../..')
const SOURCES = ['src/**/*.ts', 'charts/*/templates/**/*', 'crds/*.yaml', 'rbac/*.yaml']
/** A name with the prefix of a domain, in quotes or as a key of YAML; versions of APIs are none. */
const KEY = /(?:['"`]|^ *)((?:[a-z0-9-]+\.)+(?:dev|io|sh)\/(?!v\d)[A-Za-z][\w.-]*|checksum\/\w+)(?=['"`:]|$)/gm

function keysIn(text: string): readonly string[] {
  return [...text.matchAll(KEY)].map(([, key = '']) => key)
}

const texts = globSync(SOURCES, { cwd: ROOT, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'))

it('the page of annotations and labels equals what is generated', async () => {
  await expect(metadataKeysPage()).toMatchFileSnapshot(join(ROOT, 'docs/annotations.md'))
})

it('the page has each annotation, label and finalizer in the source', () => {
  expect(keysIn(`a['weir.dev/x'] "a.b.io/C-d": 1 'weir.dev/v1' \`strimzi.io/y\`\n  helm.sh/hook: 1`)).toEqual([
    'weir.dev/x',
    'a.b.io/C-d',
    'strimzi.io/y',
    'helm.sh/hook',
  ])
  const found = new Set(texts.flatMap(keysIn))
  expect([...found].filter((key) => !METADATA_KEYS.includes(key))).toEqual([])
})

it('the page has nothing that is not in the source', () => {
  const absent = METADATA_KEYS.filter((key) => !texts.some((text) => text.includes(key)))
  expect(absent).toEqual([])
})

it('kubectl explain of a Connector says how to take over a connector that a deleted resource left', () => {
  const text = JSON.stringify(crdOf('Connector'))
  expect(text).toContain('Annotations: weir.dev/reconcile-requested-at: ')
  expect(text).toContain('is taken over only with the annotation weir.dev/take-over.')
  expect(JSON.stringify(crdOf('Subject'))).not.toContain('weir.dev/take-over')
})

it('a request for a reconcile is reported by the status when it is handled', async () => {
  const { cluster, connectors } = createReconcilerFixture()
  const spec = { class: 'Datagen', config: { topic: 'orders' } }
  const key = cluster.apply('Connector', 'orders', spec, { 'weir.dev/reconcile-requested-at': '1' })
  const { settle } = connectors()
  await settle(key)
  expect(cluster.get(key)?.status.lastHandledReconcile).toBe('1')
  cluster.apply('Connector', 'orders', spec)
  await settle(key)
  expect(cluster.get(key)?.status.lastHandledReconcile).toBe('1')
})

it('a request with a value that is longer than the status can store is executed once', async () => {
  const { cluster, worker, connectors } = createReconcilerFixture()
  const spec = { class: 'Datagen', config: { topic: 'orders' } }
  const key = cluster.apply('Connector', 'orders', spec)
  const { settle } = connectors()
  await settle(key)
  cluster.apply('Connector', 'orders', spec, { 'weir.dev/restart-requested-at': 'x'.repeat(300) })
  await settle(key)
  await settle(key)
  expect(worker.writes).toEqual(['create orders', 'restart orders'])
  expect(cluster.get(key)?.status.lastHandledRestart).toBe('x'.repeat(256))
})
