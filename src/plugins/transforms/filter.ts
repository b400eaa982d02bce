import { defineTransform, z } from '../../sdk/index.ts'
import { names } from './sides.ts'

export const filter = defineTransform({
  ...names('Filter'),
  summary: 'Drops every record it is given: those that a predicate picks.',
  config: z.object({}),
  create: () => () => null,
})
