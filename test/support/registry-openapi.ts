import { openApiDocument } from '../../src/registry/openapi/document.ts'
import { createChecks } from './openapi.ts'

/** Checks against the registry's OpenAPI document. */
export const { operations, checkAnswer } = createChecks(openApiDocument('0.0.0'))
