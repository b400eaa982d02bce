import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { API_VERSION } from '../../src/common/resource-api.ts'
import { freePort } from '../env/ports.ts'
import { responds, startWeir } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'

const WAIT = { everyMs: 50, timeoutMs: 120_000 }
const RESOURCE = {
  apiVersion: API_VERSION,
  kind: 'Connector',
  metadata: { name: 'made' },
  spec: {
    class: 'Datagen',
    config: { 'kafka.topic': 'made', quickstart: 'users', 'max.interval': '50', 'key.converter': 'StringConverter' },
  },
}

type Value = { readonly stringValue?: string; readonly intValue?: number | string }
type Attributes = readonly { readonly key: string; readonly value: Value }[]
type ReceivedSpan = {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly attributes: Attributes
  readonly service: string
}
type Export = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes }
    readonly scopeSpans: readonly { readonly spans: readonly Omit<ReceivedSpan, 'service'>[] }[]
  }[]
}

/** A collector of OpenTelemetry, which keeps what it receives. */
async function startCollector() {
  const spans: ReceivedSpan[] = []
  const authorized = new Set<string | undefined>()
  const server = createServer(async (request, response) => {
    authorized.add(request.headers.authorization)
    if (request.url !== '/v1/traces') return response.writeHead(404).end()
    const { resourceSpans } = JSON.parse(await text(request)) as Export
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = attributeOf(resource.attributes, 'service.name') ?? ''
      spans.push(...scopeSpans.flatMap((scope) => scope.spans).map((span) => ({ ...span, service })))
    }
    return response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.closeAllConnections(), 0)
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, authorized }
}

function attributeOf(attributes: Attributes, key: string): string | undefined {
  const value = attributes.find((attribute) => attribute.key === key)?.value
  return value === undefined ? undefined : String(value.stringValue ?? value.intValue)
}

it('traces follow a resource from the operator over the worker to its task, with its batches and requests to the registry', async () => {
  const collector = await startCollector()
  const directory = temporaryDirectory()
  const [registryPort, workerPort] = [await freePort(), await freePort()]
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20token',
    OTEL_BSP_SCHEDULE_DELAY: '100',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  }
  writeFileSync(join(directory, 'made.yaml'), JSON.stringify(RESOURCE))
  const ports = ['--registry-port', String(registryPort), '--worker-port', String(workerPort), '--console-port', '0']
  const url = `http://127.0.0.1:${workerPort}`
  const program = await startWeir(['up', '.', ...ports], () => responds(`${url}/connectors/made/status`), {
    directory,
    env,
  })
  onTestFinished(() => program.kill())
  const spanOf = (name: string, wanted: (span: ReceivedSpan) => boolean = () => true) =>
    collector.spans.find((span) => span.name === name && wanted(span))
  const received = async (name: string, wanted?: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan> => {
    await until(`the span ${name}`, WAIT, () => spanOf(name, wanted) !== undefined).catch((error: Error) => {
      const seen = collector.spans.map((span) => `${span.service} ${span.name} ${span.parentSpanId} > ${span.spanId}`)
      throw new Error(`${error.message}; received were:\n${[...new Set(seen)].slice(0, 100).join('\n')}`)
    })
    return spanOf(name, wanted)!
  }

  const started = await received('start task')
  const changed = await received('POST /connectors', ({ spanId }) => spanId === started.parentSpanId)
  const request = await received('POST', ({ spanId }) => spanId === changed.parentSpanId)
  const reconciled = await received('reconcile Connector', ({ spanId }) => spanId === request.parentSpanId)
  expect(new Set([started, changed, request, reconciled].map(({ traceId }) => traceId)).size).toBe(1)
  expect([reconciled.service, started.service]).toEqual(['weir-up', 'weir-tasks'])
  expect(attributeOf(reconciled.attributes, 'weir.resource.name')).toBe('made')
  expect(attributeOf(changed.attributes, 'http.response.status_code')).toBe('201')

  const batch = await received('send made')
  expect(attributeOf(batch.attributes, 'messaging.destination.name')).toBe('made')
  const registered = await received('POST /subjects/:subject/versions')
  const inBatch = await received('POST', ({ spanId }) => spanId === registered.parentSpanId)
  expect(inBatch.service).toBe('weir-tasks')
  expect(spanOf('send made', ({ spanId }) => spanId === inBatch.parentSpanId)).toBeDefined()
  expect(collector.authorized).toEqual(new Set(['Bearer token']))

  // A caller's trace is continued.
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const traceparent = `00-${traceId}-b7ad6b7169203331-01`
  const answer = await fetch(`${url}/connectors/made/restart`, { method: 'POST', headers: { traceparent } })
  expect(answer.status).toBeLessThan(300)
  expect(await received('POST /connectors/:name/restart')).toMatchObject({ traceId, parentSpanId: 'b7ad6b7169203331' })
  expect(await createWorkerClient({ url }).list()).toHaveProperty('made')
  expect(await program.terminate(60_000)).toBe(0)
  const probes = collector.spans.filter(({ name }) => /metrics|healthz|readyz/.test(name))
  expect(probes).toEqual([])
})

it('a program without a collector, or with one that does not respond, works as without traces', async () => {
  const directory = temporaryDirectory()
  const [registryPort, workerPort] = [await freePort(), await freePort()]
  const ports = ['--registry-port', String(registryPort), '--worker-port', String(workerPort), '--console-port', '0']
  writeFileSync(join(directory, 'made.yaml'), JSON.stringify(RESOURCE))
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}` }
  const ready = () => responds(`http://127.0.0.1:${workerPort}/connectors/made/status`)
  const program = await startWeir(['up', '.', ...ports], ready, { directory, env })
  onTestFinished(() => program.kill())
  expect(await program.terminate(60_000)).toBe(0)
})
