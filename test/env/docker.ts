import { existsSync } from 'node:fs'
import { request } from 'node:http'

let answer: Promise<boolean> | undefined

/** Whether a container engine answers, not only whether its client is installed. Asked once. */
export function dockerAnswers(): Promise<boolean> {
  answer ??= ping(process.env['DOCKER_HOST'] ?? 'unix:///var/run/docker.sock')
  return answer
}

function ping(engine: string): Promise<boolean> {
  const target = targetOf(engine)
  if (target === undefined) return Promise.resolve(false)
  return new Promise((resolve) => {
    const asked = request({ ...target, path: '/_ping', timeout: 2_000 }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    asked.once('timeout', () => asked.destroy())
    asked.once('error', () => resolve(false))
    asked.end()
  })
}

function targetOf(engine: string) {
  if (engine.startsWith('unix://')) {
    const socketPath = engine.slice('unix://'.length)
    return existsSync(socketPath) ? { socketPath } : undefined
  }
  const url = URL.parse(engine.replace(/^tcp:/, 'http:'))
  return url === null ? undefined : { host: url.hostname, port: url.port }
}
