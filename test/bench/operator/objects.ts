/** The kind, name and spec of a resource. */
export type Declared = { readonly kind: 'Subject' | 'Connector'; readonly name: string; readonly spec: object }

/** 60 % Subjects and 40 % Connectors. Every other resource of each kind refers to a Subject. */
export function objectsOf(count: number): readonly Declared[] {
  const subjects = Math.round(count * 0.6)
  return [
    ...Array.from({ length: subjects }, (_, number) => subject(number)),
    ...Array.from({ length: count - subjects }, (_, number) => connector(number)),
  ]
}

/** `extra` makes it a new, compatible version. */
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

/** A connector whose task has no work, so that the load of the worker is not measured. */
export function connector(number: number): Declared {
  const config = { file: '/nowhere', topic: `topic-${number}` }
  const subjectRefs = [{ name: `subject-${number}` }]
  const spec = { class: 'FileStreamSource', config, ...(number % 2 === 1 && { subjectRefs }) }
  return { kind: 'Connector', name: `connector-${number}`, spec }
}
