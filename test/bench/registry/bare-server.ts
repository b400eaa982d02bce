import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'

/** The responses of a server that uses only `node:http` or `node:https`: copies of Weir's responses, by method and path. */
export type BareAnswers = Readonly<Record<string, { readonly type: string; readonly body: string }>>

/**
 * A minimal HTTP server on Node: looks up the response, parses the body of a POST as JSON, and responds. It uses TLS if it
 * gets a file with a certificate and its key.
 */
const [port, file, certificateFile] = process.argv.slice(2)
const parsed = JSON.parse(readFileSync(file!, 'utf8')) as BareAnswers
const answers = new Map(
  Object.entries(parsed).map(([key, { type, body }]) => [
    key,
    { body, headers: { 'content-type': type, 'content-length': Buffer.byteLength(body) } },
  ]),
)

const respond: RequestListener = (request, response) => {
  const answer = () => {
    const found = answers.get(`${request.method} ${request.url}`)!
    response.writeHead(200, found.headers).end(found.body)
  }
  if (request.method === 'GET') return answer()
  let sent = ''
  request.setEncoding('utf8')
  request.on('data', (chunk: string) => {
    sent += chunk
  })
  request.on('end', () => {
    JSON.parse(sent)
    answer()
  })
}
const pem = certificateFile === undefined ? undefined : readFileSync(certificateFile)
const server = pem ? createTlsServer({ cert: pem, key: pem }, respond) : createServer(respond)
server.listen(Number(port), '127.0.0.1')
