import { z } from 'zod'
import { commonStatus, countField } from './common-status.ts'
import {
  boundedText,
  choice,
  clusterRef,
  driftPolicy,
  duration,
  ownRecord,
  subjectNameField,
  suspend,
  time,
  withRules,
} from './field-schemas.ts'
import { compatibilityLevel } from './subject.ts'

const scope = withRules(
  z.strictObject({
    type: choice('What the mode applies to.', {
      Registry: 'all subjects that have no mode of their own',
      Context: 'all subjects of a context',
      Subject: 'one subject',
    }).default('Registry'),
    context: boundedText(2, 255)
      .regex(/^\.[^:\\]*$/, 'must begin with a dot and contain no colon, such as .legacy')
      .optional()
      .describe('Name of the context, with its leading dot. Example: .legacy.'),
    subject: subjectNameField().optional().describe('Name of the subject, with its context if it has one.'),
  }),
  [
    {
      cel: "self.type == 'Context' ? has(self.context) && !has(self.subject) : self.type == 'Subject' ? has(self.subject) && !has(self.context) : !has(self.context) && !has(self.subject)",
      message:
        'scope.context is required with type Context, scope.subject with type Subject; other types allow neither',
      isValid: ({ type, context, subject }) =>
        (context !== undefined) === (type === 'Context') && (subject !== undefined) === (type === 'Subject'),
    },
  ],
)

const modeWindow = withRules(
  z.strictObject({
    id: boundedText(1, 128).default('1').describe('Identifies the window. A changed id opens a new window.'),
    duration: duration()
      .optional()
      .describe('Duration of the window, from the time when the mode is set. Example: 2h.'),
    until: time().optional().describe('Time at which the window closes. Example: 2026-11-20T10:00:00Z.'),
    // biome-ignore lint/suspicious/noThenProperty: the field's name is part of the API, and its value is a word
    then: choice('Mode that is set when the window closes.', {
      READWRITE: 'schemas can be read and registered',
      READONLY: 'schemas can be read only',
    }).default('READWRITE'),
    closeWhenImported: z
      .boolean()
      .default(false)
      .describe(
        'true: the window closes ten seconds after all Subjects of this registry and namespace have registered their imports.',
      ),
  }),
  [
    {
      cel: 'has(self.duration) != has(self.until)',
      message: 'exactly one of duration and until must be set',
      isValid: (window) => (window.duration === undefined) !== (window.until === undefined),
    },
  ],
)

/** Desired mode, or level, or both, of a registry, a context or a subject. */
export const registryModeSpec = withRules(
  z.strictObject({
    registryRef: clusterRef('registry').describe('Registry whose mode is managed. Immutable.'),
    scope: scope.default({ type: 'Registry' }).describe('What the mode applies to. Immutable.'),
    mode: choice('Target mode of the scope. Default: none is set.', {
      READWRITE: 'schemas can be read and registered',
      READONLY: 'schemas can be read only',
      READONLY_OVERRIDE: 'schemas can be read only, regardless of the modes of subjects; deprecated: use READONLY',
      IMPORT: 'schemas are registered with the ids and versions of the request, without a compatibility check',
      FORWARD: 'requests for schemas that are not found are forwarded',
    }).optional(),
    force: z.boolean().default(false).describe('true: the mode IMPORT is set even if the scope has subjects.'),
    window: modeWindow.optional().describe('Limits the time for which the mode is set.'),
    compatibility: compatibilityLevel('scope').optional(),
    adoptionPolicy: choice('What to do when the scope already has another mode of its own.', {
      Adopt: 'it is replaced, and restored according to deletionPolicy',
      Never: 'it is not changed, and the resource reports AlreadySet',
    }).default('Adopt'),
    driftPolicy: driftPolicy('What to do when another client changed the mode.'),
    deletionPolicy: choice('What the deletion of this resource does in the registry.', {
      Restore: 'the previous mode and compatibility level are restored, unless another client has changed them since',
      Retain: 'the mode and the compatibility level stay',
    }).default('Restore'),
    suspend: suspend('registry'),
  }),
  [
    {
      cel: 'has(self.mode) || has(self.compatibility)',
      field: 'mode',
      message: 'at least one of mode and compatibility must be set',
      isValid: ({ mode, compatibility }) => mode !== undefined || compatibility !== undefined,
    },
    {
      cel: "!self.force || (has(self.mode) && self.mode == 'IMPORT')",
      field: 'force',
      message: 'force is allowed with mode IMPORT only',
      isValid: ({ force, mode }) => !force || mode === 'IMPORT',
    },
    {
      cel: "!has(self.window) || (has(self.mode) && self.mode != 'READWRITE')",
      field: 'window',
      message: 'window is allowed with a mode other than READWRITE only',
      isValid: ({ window, mode }) => window === undefined || (mode !== undefined && mode !== 'READWRITE'),
    },
    {
      cel: "!has(self.compatibility) || self.scope.type != 'Subject'",
      field: 'compatibility',
      message: 'compatibility is not allowed with scope type Subject: set it in the Subject resource',
      isValid: (spec) => spec.compatibility === undefined || spec.scope.type !== 'Subject',
    },
  ],
)

export type RegistryModeSpec = z.output<typeof registryModeSpec>

const previous = z.object({
  explicit: z.boolean().describe('false: the value was inherited.'),
  value: z.string().optional().describe('The previous value.'),
})
/** The value before this object first wrote; `explicit: false`: the scope inherited it. */
export type Previous = Readonly<z.output<typeof previous>>

/** Observed state of one mode. */
export const registryModeStatus = z.object({
  ...commonStatus,
  registry: z.string().optional().describe('Registry whose mode is managed.'),
  scope: z.string().optional().describe('Scope: Registry, a context such as :.legacy:, or the name of a subject.'),
  mode: z.string().optional().describe('Effective mode.'),
  previousMode: ownRecord(previous.optional().describe('Mode before this resource first changed it.')),
  previousCompatibility: ownRecord(
    previous.optional().describe('Compatibility level before this resource first changed it.'),
  ),
  appliedMode: ownRecord(z.string().optional().describe('Mode that this resource set.')),
  appliedCompatibility: ownRecord(z.string().optional().describe('Compatibility level that this resource set.')),
  window: z
    .object({
      id: z.string().describe('Id of the window.'),
      phase: z.enum(['Pending', 'Open', 'Closed']).describe('Phase of the window.'),
      openedAt: time().optional().describe('When the mode was set.'),
      closesAt: time().optional().describe('When the window closes.'),
      closedAt: time().optional().describe('When the window was closed.'),
      pendingImports: countField('Number of Subjects whose imports are not registered yet.').optional(),
    })
    .optional()
    .describe('State of the window.'),
})
export type RegistryModeStatus = z.output<typeof registryModeStatus>
