import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openKubernetesApi } from '../../../src/clients/kubernetes/kubernetes-api.ts'
import { json, scriptedApi } from '../../support/scripted-api.ts'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'weir-kubeconfig-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

function kubeconfig(text: string): string {
  const file = join(directory, 'config')
  writeFileSync(file, text)
  return file
}

const withServer = (server: string) => `apiVersion: v1
kind: Config
current-context: here
contexts: [{ name: here, context: { cluster: ours, user: me, namespace: team } }]
users: [{ name: me, user: {} }]
clusters: [{ name: ours, cluster: { server: "${server}" } }]
`

it('a kubeconfig determines the namespace', () => {
  expect(openKubernetesApi(kubeconfig(withServer('https://127.0.0.1:6443'))).namespace).toBe('team')
})

it('a kubeconfig that does not exist is an error that names the file', () => {
  const file = join(directory, 'absent')
  expect(() => openKubernetesApi(file)).toThrow(`the kubeconfig ${file} cannot be read: ENOENT`)
})

it('a kubeconfig that is not YAML is an error that names the file', () => {
  const file = kubeconfig('clusters: {')
  expect(() => openKubernetesApi(file)).toThrow(`the kubeconfig ${file} cannot be read: `)
})

it('a kubeconfig without a current context is an error that says what to set', () => {
  const file = kubeconfig(withServer('https://127.0.0.1:6443').replace('current-context: here', ''))
  expect(() => openKubernetesApi(file)).toThrow('the kubeconfig names no current cluster: set current-context')
})

it('a kubeconfig with an invalid server is an error that shows it', () => {
  expect(() => openKubernetesApi(kubeconfig(withServer('nowhere')))).toThrow(
    "the kubeconfig has no valid URL as the server of the cluster 'ours': 'nowhere'",
  )
})

it('watches do not use up the connections of other requests', async () => {
  const script = await scriptedApi()
  const ended = new AbortController()
  const watches = Array.from({ length: 40 }, async () => {
    for await (const _ of script.api.watch({ method: 'GET', path: '/watched', signal: ended.signal })) return
  })
  for (const _ of watches) (await script.next()).response.writeHead(200).flushHeaders()
  const sent = script.api.send({ method: 'GET', path: '/lease' })
  const { asked, response } = await script.next()
  expect(asked.path).toBe('/lease')
  json(response, { kind: 'Lease' })
  expect(await sent).toEqual({ kind: 'Lease' })
  ended.abort()
  await Promise.allSettled(watches)
  script.api.close()
})
