import Fastify from 'fastify'
import { expect, it } from 'vitest'
import { workerErrorResponse } from '../../../src/worker/routes/error-response.ts'
import { addRequestTimeout } from '../../../src/worker/routes/request-timeout.ts'

it('a request that hangs is answered with a timeout, and other requests are not affected', async () => {
  const app = Fastify()
  addRequestTimeout(app, 20)
  app.setErrorHandler((error, _, reply) =>
    reply.code(workerErrorResponse(error)?.status ?? 0).send(workerErrorResponse(error)?.body),
  )
  app.get('/hangs', () => new Promise(() => undefined))
  app.get('/answers', async () => ({ fine: true }))
  app.get('/sends', (_, reply) => reply.code(202).send())
  const hung = await app.inject('/hangs')
  expect([hung.statusCode, hung.json()]).toEqual([500, { error_code: 500, message: 'Request timed out' }])
  expect((await app.inject('/answers')).json()).toEqual({ fine: true })
  expect((await app.inject('/sends')).statusCode).toBe(202)
  await app.close()
})
