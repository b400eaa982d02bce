import { z } from 'zod'
import type { Condition } from './condition.ts'
import { clusterRef, duration, subjectName, withRules } from './fields.ts'
import { compatibilityLevel } from './subject.ts'

const scope = withRules(
  z.strictObject({
    type: z.enum(['Registry', 'Context', 'Subject']).default('Registry'),
    context: z
      .string()
      .min(2)
      .max(255)
      .regex(/^\.[^:\\]*$/, 'must begin with a dot and hold no colon, such as .legacy')
      .optional()
      .describe('Context name with its leading dot.'),
    subject: subjectName().optional(),
  }),
  [
    {
      cel: "self.type == 'Context' ? has(self.context) && !has(self.subject) : self.type == 'Subject' ? has(self.subject) && !has(self.context) : !has(self.context) && !has(self.subject)",
      message: 'scope.context goes with type Context, scope.subject with type Subject',
      holds: ({ type, context, subject }) =>
        (context !== undefined) === (type === 'Context') && (subject !== undefined) === (type === 'Subject'),
    },
  ],
)

const modeWindow = withRules(
  z.strictObject({
    id: z.string().min(1).max(128).default('1').describe('Changing it opens a new window.'),
    duration: duration().optional().describe('From the moment the mode was applied.'),
    until: z.iso.datetime({ offset: true }).optional().describe('Absolute end.'),
    // biome-ignore lint/suspicious/noThenProperty: the field's name is part of the API, and its value is a word
    then: z.enum(['READWRITE', 'READONLY']).default('READWRITE').describe('Mode after the window.'),
    closeWhenImported: z.boolean().default(false),
  }),
  [
    {
      cel: 'has(self.duration) != has(self.until)',
      message: 'exactly one of duration and until must be set',
      holds: (window) => (window.duration === undefined) !== (window.until === undefined),
    },
  ],
)

/** Desired mode of a registry, a context or a subject. */
export const registryModeSpec = withRules(
  z.strictObject({
    registryRef: clusterRef().describe('Registry, by its name in the operator configuration.'),
    scope: scope.default({ type: 'Registry' }).describe('What the mode applies to.'),
    mode: z.enum(['READWRITE', 'READONLY', 'READONLY_OVERRIDE', 'IMPORT', 'FORWARD']),
    force: z.boolean().default(false).describe('Enters IMPORT although the scope is not empty.'),
    window: modeWindow.optional().describe('Bounds the time the mode is held.'),
    compatibility: compatibilityLevel().optional().describe('Compatibility of the scope; absent means not managed.'),
    adoptionPolicy: z.enum(['Adopt', 'Never']).default('Adopt'),
    driftPolicy: z.enum(['Correct', 'Report']).default('Correct'),
    deletionPolicy: z.enum(['Restore', 'Retain']).default('Restore'),
    suspend: z.boolean().default(false),
  }),
  [
    {
      cel: "!self.force || self.mode == 'IMPORT'",
      field: 'force',
      message: 'force is for mode IMPORT only',
      holds: ({ force, mode }) => !force || mode === 'IMPORT',
    },
    {
      cel: "!has(self.window) || self.mode != 'READWRITE'",
      field: 'window',
      message: 'window is for modes other than READWRITE',
      holds: (spec) => spec.window === undefined || spec.mode !== 'READWRITE',
    },
    {
      cel: "!has(self.compatibility) || self.scope.type != 'Subject'",
      field: 'compatibility',
      message: 'compatibility of one subject belongs to its Subject',
      holds: (spec) => spec.compatibility === undefined || spec.scope.type !== 'Subject',
    },
  ],
)

export type RegistryModeSpec = z.output<typeof registryModeSpec>

/** What was in force before this object first wrote; `explicit: false`: the scope inherited it. */
export type Previous = { readonly explicit: boolean; readonly value?: string }

export type RegistryModeStatus = {
  readonly observedGeneration: number
  readonly conditions: readonly Condition[]
  readonly registry?: string
  /** Registry, `:.ctx:` or the subject. */
  readonly scope?: string
  /** In effect. */
  readonly mode?: string
  readonly previousMode?: Previous
  readonly previousCompatibility?: Previous
  readonly appliedCompatibility?: string
  readonly window?: {
    readonly id: string
    readonly phase: 'Pending' | 'Open' | 'Closed'
    readonly openedAt?: string
    readonly closesAt?: string
    readonly closedAt?: string
  }
  readonly lastHandledReconcile?: string
}
