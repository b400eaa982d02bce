import { openApiDocument } from '../../src/registry/openapi/document.ts'
import { createResponseChecks } from './openapi.ts'

/** Checks against the registry's OpenAPI document. */
export const { operations, checkAnswer } = createResponseChecks(openApiDocument('0.0.0'))
