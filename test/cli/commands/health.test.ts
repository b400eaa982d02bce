import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { healthCommand } from '../../../src/cli/commands/health.ts'

it('says yes where all that it asks are healthy', async () => {
  const [one, two] = [await serve(200), await serve(200)]
  expect(await call(one.url, `${two.url}/`)).toEqual({ code: 0, printed: 'healthy\n' })
  expect([...one.asked, ...two.asked]).toEqual(['/healthz', '/healthz'])
})

it('says no, and why, where one is ill', async () => {
  const [well, ill] = [await serve(200), await serve(503, 'stuck')]
  expect(await call(well.url, ill.url)).toEqual({ code: 1, printed: `${ill.url}/healthz answers 503: stuck\n` })
})

it('says no where nobody answers', async () => {
  const { url, close } = await serve(200)
  await close()
  expect(await call(url)).toEqual({ code: 1, printed: expect.stringContaining(`${url}/healthz does not answer`) })
})

it.each(['8081', 'localhost:8081'])('takes %s for no URL', async (text) => {
  await expect(healthCommand.run([text])).rejects.toThrow('is no URL')
})

async function serve(status: number, body = 'ok') {
  const asked: (string | undefined)[] = []
  const server = createServer((request, response) => {
    asked.push(request.url)
    response.writeHead(status).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => new Promise<unknown>((resolve) => server.close(resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, close }
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
