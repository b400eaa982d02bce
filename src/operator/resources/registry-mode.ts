import { z } from 'zod'
import {
  boundedText,
  choice,
  clusterRef,
  driftPolicy,
  duration,
  subjectNameField,
  suspend,
  time,
  withRules,
} from './fields.ts'
import { commonStatus, countField } from './status.ts'
import { compatibilityLevel } from './subject.ts'

const scope = withRules(
  z.strictObject({
    type: choice('What the mode applies to.', {
      Registry: 'all subjects without a mode of their own',
      Context: 'all subjects of a context',
      Subject: 'one subject',
    }).default('Registry'),
    context: boundedText(2, 255)
      .regex(/^\.[^:\\]*$/, 'must begin with a dot and hold no colon, such as .legacy')
      .optional()
      .describe('Name of the context, with its dot. Example: .legacy.'),
    subject: subjectNameField().optional().describe('Name of the subject, with its context if it has one.'),
  }),
  [
    {
      cel: "self.type == 'Context' ? has(self.context) && !has(self.subject) : self.type == 'Subject' ? has(self.subject) && !has(self.context) : !has(self.context) && !has(self.subject)",
      message: 'scope.context goes with type Context, scope.subject with type Subject',
      isValid: ({ type, context, subject }) =>
        (context !== undefined) === (type === 'Context') && (subject !== undefined) === (type === 'Subject'),
    },
  ],
)

const modeWindow = withRules(
  z.strictObject({
    id: boundedText(1, 128).default('1').describe('Another id opens a new window.'),
    duration: duration().optional().describe('How long it lasts from when the mode was set. Example: 2h.'),
    until: time().optional().describe('When it ends. Example: 2026-11-20T10:00:00Z.'),
    // biome-ignore lint/suspicious/noThenProperty: the field's name is part of the API, and its value is a word
    then: choice('Mode after the window.', {
      READWRITE: 'schemas can be read and registered',
      READONLY: 'schemas can be read only',
    }).default('READWRITE'),
    closeWhenImported: z
      .boolean()
      .default(false)
      .describe('true: it ends ten seconds after the last Subject of this registry and namespace has its imports.'),
  }),
  [
    {
      cel: 'has(self.duration) != has(self.until)',
      message: 'exactly one of duration and until must be set',
      isValid: (window) => (window.duration === undefined) !== (window.until === undefined),
    },
  ],
)

/** Desired mode of a registry, a context or a subject. */
export const registryModeSpec = withRules(
  z.strictObject({
    registryRef: clusterRef('registry').describe('Which registry it is about. Can not be changed.'),
    scope: scope.default({ type: 'Registry' }).describe('What the mode applies to. Can not be changed.'),
    mode: choice('Mode it is kept in.', {
      READWRITE: 'schemas can be read and registered',
      READONLY: 'schemas can be read only',
      READONLY_OVERRIDE: 'read only, whatever mode a subject has; deprecated, use READONLY',
      IMPORT: 'schemas are registered with the ids and versions that the request gives, and not checked',
      FORWARD: 'requests for schemas that are not found are forwarded',
    }),
    force: z.boolean().default(false).describe('true: enters IMPORT although there are schemas already.'),
    window: modeWindow.optional().describe('Bounds the time that the mode is held.'),
    compatibility: compatibilityLevel('scope').optional(),
    adoptionPolicy: choice('What to do when somebody else has set another mode there.', {
      Adopt: 'it is replaced, and restored as deletionPolicy says',
      Never: 'it is left alone, and the resource reports AlreadySet',
    }).default('Adopt'),
    driftPolicy: driftPolicy('What to do when the registry is in another mode.'),
    deletionPolicy: choice('What the deletion of this object does in the registry.', {
      Restore: 'mode and level from before are set again, where they are still as this object set them',
      Retain: 'mode and level stay as they are',
    }).default('Restore'),
    suspend: suspend('registry'),
  }),
  [
    {
      cel: "!self.force || self.mode == 'IMPORT'",
      field: 'force',
      message: 'force is for mode IMPORT only',
      isValid: ({ force, mode }) => !force || mode === 'IMPORT',
    },
    {
      cel: "!has(self.window) || self.mode != 'READWRITE'",
      field: 'window',
      message: 'window is for modes other than READWRITE',
      isValid: (spec) => spec.window === undefined || spec.mode !== 'READWRITE',
    },
    {
      cel: "!has(self.compatibility) || self.scope.type != 'Subject'",
      field: 'compatibility',
      message: 'compatibility of one subject belongs to its Subject',
      isValid: (spec) => spec.compatibility === undefined || spec.scope.type !== 'Subject',
    },
  ],
)

export type RegistryModeSpec = z.output<typeof registryModeSpec>

const previous = z.object({
  explicit: z.boolean().describe('false: it was inherited.'),
  value: z.string().optional().describe('What it was.'),
})
/** The value before this object first wrote; `explicit: false`: the scope inherited it. */
export type Previous = Readonly<z.output<typeof previous>>

/** Observed state of one mode. */
export const registryModeStatus = z.object({
  ...commonStatus,
  registry: z.string().optional().describe('Registry it is in.'),
  scope: z.string().optional().describe('Registry, a context such as :.legacy:, or a subject.'),
  mode: z.string().optional().describe('Mode in force.'),
  previousMode: previous.optional().describe('Mode before this object first wrote.'),
  previousCompatibility: previous.optional().describe('Level before this object first wrote.'),
  appliedCompatibility: z.string().optional().describe('Level that was written here.'),
  window: z
    .object({
      id: z.string().describe('Id of the window.'),
      phase: z.enum(['Pending', 'Open', 'Closed']).describe('Where it is.'),
      openedAt: time().optional().describe('When the mode was set.'),
      closesAt: time().optional().describe('When it ends.'),
      closedAt: time().optional().describe('When it ended.'),
      pendingImports: countField('Subjects whose imports are not there yet.').optional(),
    })
    .optional()
    .describe('Where the window is.'),
})
export type RegistryModeStatus = z.output<typeof registryModeStatus>
