import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { healthCommand } from '../../../src/cli/commands/health.ts'

it('succeeds when all programs are healthy', async () => {
  const [one, two] = [await serve(200), await serve(200)]
  expect(await call(one.url, `${two.url}/`)).toEqual({ code: 0, printed: 'healthy\n' })
  expect([...one.requestedPaths, ...two.requestedPaths]).toEqual(['/healthz', '/healthz'])
})

it('fails with the reason when a program is unhealthy', async () => {
  const [healthy, unhealthy] = [await serve(200), await serve(503, 'stuck')]
  expect(await call(healthy.url, unhealthy.url)).toEqual({
    code: 1,
    printed: `${unhealthy.url}/healthz responds with 503: stuck\n`,
  })
})

it('fails when no program listens', async () => {
  const { url, close } = await serve(200)
  await close()
  expect(await call(url)).toEqual({ code: 1, printed: expect.stringContaining(`${url}/healthz does not respond`) })
})

it.each(['8081', 'localhost:8081'])('rejects %s, which is not a URL', async (text) => {
  await expect(healthCommand.run([text])).rejects.toThrow('is not a URL')
})

async function serve(status: number, body = 'ok') {
  const requestedPaths: (string | undefined)[] = []
  const server = createServer((request, response) => {
    requestedPaths.push(request.url)
    response.writeHead(status).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => new Promise<unknown>((resolve) => server.close(resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requestedPaths, close }
}

async function call(...urls: readonly string[]) {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    const code = await healthCommand.run(urls)
    return { code, printed: write.mock.calls.map(([text]) => text).join('') }
  } finally {
    write.mockRestore()
  }
}
