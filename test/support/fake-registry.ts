import { RequestError } from '../../src/clients/http-client.ts'
import type {
  CompatibilityLevel,
  Mode,
  NewSchema,
  RegisteredSchema,
  RegistryClient,
  SubjectConfig,
} from '../../src/clients/registry-client.ts'

const GLOBAL = ''

/** An in-memory registry with the interface of its client. It stores all schemas without a compatibility check. */
export class FakeRegistry implements RegistryClient {
  readonly schemas = new Map<string, RegisteredSchema[]>()
  readonly levels = new Map<string, CompatibilityLevel>()
  readonly modes = new Map<string, Mode>()
  /** All calls that change state. */
  readonly writes: string[] = []
  /** While set, each call throws it. */
  failure: Error | undefined
  /** While set, each registration throws it. */
  refusal: RequestError | undefined
  #lastId = 0

  async register(subject: string, schema: NewSchema) {
    this.#write(`register ${subject}`)
    if (this.refusal !== undefined) throw this.refusal
    if (this.#modeOf(subject) === 'READONLY')
      throw new RequestError(422, 42205, `Subject ${subject} is in read-only mode`)
    const known = this.schemas.get(subject) ?? []
    const { id, version } = schema
    if (id !== undefined && version !== undefined) {
      if (this.#modeOf(subject) !== 'IMPORT')
        throw new RequestError(422, 42205, `Subject ${subject} is not in import mode`)
      const other = [...this.schemas.values()].flat().find((one) => one.id === id)
      if (other !== undefined && !sameSchema(other, schema))
        throw new RequestError(422, 42205, `Overwrite new schema with id ${id} in context . is not permitted.`)
      const imported = { ...schema, subject, version, id }
      this.schemas.set(subject, [...known, imported])
      this.#lastId = Math.max(this.#lastId, id)
      return imported
    }
    const found = known.find((one) => sameSchema(one, schema))
    if (found !== undefined) return found
    this.#lastId += 1
    const registered = { ...schema, subject, version: (known.at(-1)?.version ?? 0) + 1, id: this.#lastId }
    this.schemas.set(subject, [...known, registered])
    return registered
  }

  async lookup(subject: string, schema: NewSchema) {
    const found = this.#find(subject).find((one) => sameSchema(one, schema))
    if (found === undefined) throw new RequestError(404, 40403, 'Schema not found')
    return found
  }

  byId = async (id: number) => this.#any((one) => one.id === id)
  byGuid = async (guid: string) => this.#any((one) => one.guid === guid)
  versionsOfId = async () => []

  /** The effective policy and group of every subject. */
  rules: Pick<SubjectConfig, 'compatibilityPolicy' | 'compatibilityGroup'> = {}

  latest = (subject: string) => this.version(subject, 'latest')

  async version(subject: string, version: number | 'latest') {
    const versions = this.#find(subject)
    const found = version === 'latest' ? versions.at(-1) : versions.find((one) => one.version === version)
    if (found === undefined) throw new RequestError(404, 40402, `Version ${version} not found.`)
    return found
  }

  async versions(subject: string) {
    return this.#find(subject).map(({ version }) => version)
  }

  /** Subjects of a context, given by its prefix such as `:.legacy:`; by default those of the default context. */
  async subjects({ prefix = '' }: { readonly prefix?: string } = {}) {
    this.#fail()
    return [...this.schemas.keys()].filter((name) => (prefix === '' ? !name.startsWith(':') : name.startsWith(prefix)))
  }

  async contexts() {
    this.#fail()
    return ['.']
  }

  async latestVersions() {
    this.#fail()
    const latest = [...this.schemas].map(([name, versions]) => [name, versions.at(-1)] as const)
    return new Map(
      latest.flatMap(([name, one]) => (one ? [[name, { version: one.version, id: one.id }] as const] : [])),
    )
  }

  async aliases() {
    this.#fail()
    return []
  }

  async checkCompatibility() {
    this.#fail()
    return { compatible: true, messages: [] }
  }

  async config(subject = GLOBAL, { effective = false } = {}): Promise<SubjectConfig> {
    this.#fail()
    const level =
      this.levels.get(subject) ??
      (effective || subject === GLOBAL ? (this.levels.get(GLOBAL) ?? 'BACKWARD') : undefined)
    if (level === undefined) throw new RequestError(404, 40408, 'no subject-level configuration')
    return { ...(effective ? this.rules : {}), compatibility: level }
  }

  async putConfig({ compatibility }: SubjectConfig, subject = GLOBAL) {
    this.#write(`putConfig ${subject} ${compatibility}`)
    if (compatibility !== undefined) this.levels.set(subject, compatibility)
  }

  async deleteConfig(subject = GLOBAL) {
    this.#write(`deleteConfig ${subject}`)
    this.levels.delete(subject)
  }

  async mode(subject = GLOBAL, { effective = false } = {}): Promise<Mode> {
    this.#fail()
    const mode = effective || subject === GLOBAL ? this.#modeOf(subject) : this.modes.get(subject)
    if (mode === undefined) throw new RequestError(404, 40409, 'no subject-level mode')
    return mode
  }

  async putMode(mode: Mode, subject = GLOBAL, { force = false } = {}) {
    this.#write(`putMode ${subject} ${mode}`)
    const hasSubjects = [...this.schemas.keys()].some((one) => one.startsWith(subject))
    if (mode === 'IMPORT' && !force && hasSubjects && this.modes.get(subject) !== mode)
      throw new RequestError(422, 42205, 'Cannot import since found existing subjects')
    this.modes.set(subject, mode)
  }

  async deleteMode(subject = GLOBAL) {
    this.#write(`deleteMode ${subject}`)
    this.modes.delete(subject)
  }

  async deleteSubject(subject: string, { permanent = false } = {}) {
    this.#write(`deleteSubject ${subject}${permanent ? ' permanently' : ''}`)
    const versions = permanent ? [] : this.#find(subject).map(({ version }) => version)
    this.schemas.delete(subject)
    return versions
  }

  async deleteVersion(subject: string, version: number | 'latest') {
    this.#write(`deleteVersion ${subject} ${version}`)
    this.schemas.set(
      subject,
      this.#find(subject).filter((one) => one.version !== version),
    )
    return Number(version)
  }

  #modeOf(subject: string): Mode {
    return this.modes.get(subject) ?? this.modes.get(GLOBAL) ?? 'READWRITE'
  }

  #any(isMeant: (schema: RegisteredSchema) => boolean): RegisteredSchema {
    const found = [...this.schemas.values()].flat().find(isMeant)
    if (found === undefined) throw new RequestError(404, 40403, 'Schema not found')
    return found
  }

  #find(subject: string): RegisteredSchema[] {
    this.#fail()
    const versions = this.schemas.get(subject) ?? []
    if (versions.length === 0) throw new RequestError(404, 40401, `Subject '${subject}' not found.`)
    return versions
  }

  #write(what: string): void {
    this.#fail()
    this.writes.push(what)
  }

  #fail(): void {
    if (this.failure !== undefined) throw this.failure
  }
}

function sameSchema(a: NewSchema, b: NewSchema): boolean {
  const text = ({ schema, schemaType, references = [] }: NewSchema) =>
    JSON.stringify([schemaType === 'PROTOBUF' ? schema : JSON.parse(schema), references])
  return text(a) === text(b)
}
