import { registryOpenApi, registryRoutes } from '../../src/registry/routes/registry-routes.ts'
import { createResponseChecks } from './openapi.ts'
import { describeApi } from './openapi-document.ts'

const described = await describeApi(registryOpenApi('0.0.0'), (app) =>
  // The routes are only described, not called.
  registryRoutes(app, { settings: { 'associations.enable': true } } as never, {} as never, {} as never),
)

/** Every route of the registry. */
export const { routes } = described
/** Checks against the registry's OpenAPI document. */
export const { operations, checkAnswer } = createResponseChecks(described.document)
