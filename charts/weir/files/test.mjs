// `helm test`: creates a Subject, waits until it is Ready and in the registry, and deletes it.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port, NAMESPACE, SUBJECT, REGISTRY_URL } = process.env
const WAIT_MS = 60_000
const subjects = `https://${host.includes(':') ? `[${host}]` : host}:${port}/apis/weir.dev/v1beta1/namespaces/${NAMESPACE}/subjects`
const token = readFileSync('/var/run/secrets/kubernetes.io/serviceaccount/token', 'utf8').trim()

async function call(url, method = 'GET', body) {
  const headers = url.startsWith(subjects)
    ? { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    : {}
  const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  const text = await response.text()
  if (!response.ok && response.status !== 404) throw new Error(`${method} ${url}: ${response.status} ${text}`)
  return { status: response.status, body: response.ok ? JSON.parse(text) : undefined }
}

async function waitFor(what, check) {
  const deadline = Date.now() + WAIT_MS
  for (let last = await check(); last !== true; last = await check()) {
    if (Date.now() > deadline) throw new Error(`waited ${WAIT_MS / 1000} s for ${what}: ${JSON.stringify(last)}`)
    await sleep(250)
  }
  process.stdout.write(`ok ${what}\n`)
}

const subject = `${subjects}/${SUBJECT}`
await call(subject, 'DELETE')
await waitFor('no Subject remains of an earlier test', async () => (await call(subject)).status === 404)
await call(subjects, 'POST', {
  apiVersion: 'weir.dev/v1beta1',
  kind: 'Subject',
  metadata: { name: SUBJECT },
  spec: { schema: '{"type": "record", "name": "HelmTest", "fields": []}', deletionPolicy: 'HardDelete' },
})
await waitFor('the Subject is Ready', async () => {
  const conditions = (await call(subject)).body?.status?.conditions ?? []
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True') || conditions
})
if (REGISTRY_URL) {
  await waitFor(
    'the registry has the subject',
    async () => (await call(`${REGISTRY_URL}/subjects/${SUBJECT}/versions`)).status === 200,
  )
}
await call(subject, 'DELETE')
await waitFor('the Subject is deleted', async () => (await call(subject)).status === 404)
if (REGISTRY_URL) {
  await waitFor(
    'the registry no longer has the subject',
    async () => (await call(`${REGISTRY_URL}/subjects/${SUBJECT}/versions`)).status === 404,
  )
}
