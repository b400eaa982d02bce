import { javaRegex, javaReplacement } from '../../../java-compat/java-regex.ts'
import { field, z } from '../../../sdk/index.ts'
import { sideTransforms } from '../key-value-transforms.ts'
import {
  absenceOf,
  basicsOf,
  memberOf,
  oncePerSchema,
  requireObject,
  requireStruct,
  structOf,
} from '../struct-access.ts'
import { COMMUNITY_PACKAGE } from './community-package.ts'

const PURPOSE = 'renaming fields'
const FLAGS_KEY = 'field.pattern.flags'
const FLAGS = { CASE_INSENSITIVE: 'i', MULTILINE: 'm', DOTALL: 's' } as const

/** PatternRename of kafka-connect-transform-common. */
export const patternRename = sideTransforms({
  name: 'PatternRename',
  original: `${COMMUNITY_PACKAGE}.PatternRename`,
  summary: 'Renames the fields whose names match a regular expression.',
  notes: `
Every match in a name is replaced. By default, the expression ignores the case, as in the original. Fields of nested structs keep their names.
`,
  config: z
    .object({
      'field.pattern': field.text({ doc: 'Java regular expression.', importance: 'HIGH' }),
      [FLAGS_KEY]: field
        .parsed(
          field.list({
            doc: `Flags of the expression: ${Object.keys(FLAGS).join(', ')}. Default: CASE_INSENSITIVE.`,
            importance: 'LOW',
          }),
          parseFlags,
        )
        .prefault('CASE_INSENSITIVE'),
      'field.replacement': field.text({ doc: 'Replacement, with $1 or ${name} for groups.', importance: 'HIGH' }),
    })
    .superRefine(({ 'field.pattern': pattern, [FLAGS_KEY]: flags }, context) => {
      try {
        javaRegex(withFlags(pattern, flags))
      } catch (error) {
        const message = `Invalid value ${pattern} for configuration field.pattern: Invalid regex: ${(error as Error).message}`
        field.addProblem(context, 'field.pattern', message)
      }
    }),
  create({ 'field.pattern': pattern, [FLAGS_KEY]: flags, 'field.replacement': replacement }) {
    const regex = javaRegex(withFlags(pattern, flags))
    const replace = javaReplacement(replacement)
    const renamed = (name: string) => regex.replaceAll(name, replace)
    const schemaOf = oncePerSchema((schema) => {
      const { version: _, ...basics } = basicsOf(schema)
      const fields = (schema.fields ?? []).map((one) => ({ name: renamed(one.name), schema: one.schema }))
      return structOf({ ...basics, ...absenceOf(schema) }, fields)
    })
    return (side) => {
      const { schema, value } = side
      if (schema === null && (value === null || value === undefined)) return side
      if (schema === null) {
        const members = Object.entries(requireObject(value, PURPOSE))
        return { schema, value: Object.fromEntries(members.map(([name, member]) => [renamed(name), member])) }
      }
      const struct = requireStruct(value, schema, PURPOSE)
      const members = (schema.fields ?? []).map((one) => [renamed(one.name), memberOf(struct, one)])
      return { schema: schemaOf(schema), value: Object.fromEntries(members) }
    }
  },
})

function parseFlags(names: readonly string[]): string {
  const unknown = names.find((name) => !Object.hasOwn(FLAGS, name))
  if (unknown === undefined) return names.map((name) => FLAGS[name as keyof typeof FLAGS]).join('')
  throw new Error(
    `Invalid value ${names.join(',')} for configuration ${FLAGS_KEY}: '${unknown}' is not supported; use ${Object.keys(FLAGS).join(', ')}`,
  )
}

function withFlags(pattern: string, flags: string): string {
  return flags === '' ? pattern : `(?${flags})${pattern}`
}
