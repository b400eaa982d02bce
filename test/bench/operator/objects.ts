/** A manifest, and where it stands. */
export type Declared = { readonly kind: 'Subject' | 'Connector'; readonly name: string; readonly spec: object }

/** Six Subjects for four Connectors; of each kind every other one refers to a Subject. */
export function objectsOf(count: number): readonly Declared[] {
  const subjects = Math.round(count * 0.6)
  return [
    ...Array.from({ length: subjects }, (_, number) => subject(number)),
    ...Array.from({ length: count - subjects }, (_, number) => connector(number)),
  ]
}

/** `extra` gives it another version, which its readers can take. */
export function subject(number: number, extra?: string): Declared {
  const refers = number % 2 === 1
  const other = `bench.Record${number - 1}`
  const fields = [
    { name: 'id', type: 'long' },
    ...(refers ? [{ name: 'other', type: ['null', other], default: null }] : []),
    ...(extra === undefined ? [] : [{ name: extra, type: 'int', default: 0 }]),
  ]
  const schema = JSON.stringify({ type: 'record', name: `Record${number}`, namespace: 'bench', fields })
  const references = [{ name: other, subjectRef: { name: `subject-${number - 1}` } }]
  return { kind: 'Subject', name: `subject-${number}`, spec: { schema, ...(refers && { references }) } }
}

/** Its task runs and finds nothing to do: what it would cost the worker is not what is measured. */
export function connector(number: number): Declared {
  const config = { file: '/nowhere', topic: `topic-${number}` }
  const subjectRefs = [{ name: `subject-${number}` }]
  const spec = { class: 'FileStreamSource', config, ...(number % 2 === 1 && { subjectRefs }) }
  return { kind: 'Connector', name: `connector-${number}`, spec }
}
