import { openApiDocument } from '../../src/registry/openapi/document.ts'
import { createChecks } from './openapi.ts'

/** What the registry says of itself. */
export const { operations, checkAnswer } = createChecks(openApiDocument('0.0.0'))
