import { loggerRoutes } from '../../src/worker/routes/loggers.ts'
import { workerOpenApi, workerRoutes } from '../../src/worker/routes/worker-routes.ts'
import { createResponseChecks } from './openapi.ts'
import { describeApi } from './openapi-document.ts'

// The routes are only described, not called.
const nothing = { info: () => ({ version: '' }), timeouts: { requestMs: 1, healthMs: 1 }, internal: {}, answerers: {} }
const described = await describeApi(workerOpenApi('0.0.0'), (app) => {
  workerRoutes(app, nothing as never)
  loggerRoutes(app, {} as never)
})

/** Every route of the worker. */
export const { routes } = described
/** Checks against the worker's OpenAPI document. */
export const { operations, checkAnswer } = createResponseChecks(described.document)
