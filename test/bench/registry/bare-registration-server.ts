import { createServer } from 'node:http'
import { openBroker } from '../../../src/broker/open-broker.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { ReadBackProducer } from './read-back-producer.ts'

/**
 * The least that any registry does for a new version: an HTTP server on Node that parses the body as JSON, writes the
 * schema to a topic, waits until its reader has returned the record, and responds.
 */
const [port, bootstrap, topic] = process.argv.slice(2)
const config = { 'bootstrap.servers': bootstrap! }
const broker = await openBroker({ kind: 'kafka', config }, { logger: silentLogger() })
const producer = await ReadBackProducer.open(broker, topic!)
let id = 0

createServer((request, response) => {
  let sent = ''
  request.setEncoding('utf8')
  request.on('data', (chunk: string) => {
    sent += chunk
  })
  request.on('end', async () => {
    const { schema } = JSON.parse(sent) as { readonly schema: string }
    await producer.send({ key: Buffer.from(request.url!), value: Buffer.from(schema) })
    const body = JSON.stringify({ id: ++id })
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
  })
}).listen(Number(port), '127.0.0.1')
