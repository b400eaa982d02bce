import { formatRight } from '../../src/broker/broker-error.ts'
import { PROGRAM_ACLS } from '../../src/cli/doctor/program-acls.ts'

/** The tables of `docs/acls.md`. */
export function programAclsPage(): string {
  const sections = PROGRAM_ACLS.map(({ program, note, acls }) => {
    const rows = acls.map((acl) => {
      const resource = `${acl.resourceType} \`${acl.resourceName ?? 'kafka-cluster'}\``
      return `| ${acl.operation} | ${resource} | ${acl.from} | ${acl.purpose} | ${acl.without ?? 'does not work'} |`
    })
    const table = acls.length === 0 ? [] : [HEAD, LINE, ...rows, '']
    return [`## ${program}`, '', ...(note === undefined ? [] : [note, '']), ...table].join('\n')
  })
  return `${INTRODUCTION}\n${sections.join('\n')}`
}

const HEAD = '| operation | resource | named by | what for | without it |'
const LINE = '| --- | --- | --- | --- | --- |'
const INTRODUCTION = `# ACLs of Kafka

The rights that each program needs if the brokers authorize clients. Generated from \`src/cli/doctor/program-acls.ts\`; tests run each program
with exactly these ACLs, and with each one removed in turn.

- \`weir doctor\` compares these rights with those of a client, and prints the line that grants what is missing.
- A program that lacks a right names it in the log, once, and in the response to the request that needs it. A message ends
  with what is missing: the client needs ${formatRight({ operation: 'WRITE', resourceType: 'topic', resourceName: '_schemas' })}.
- READ, WRITE, DELETE and ALTER imply DESCRIBE, and ALTER_CONFIGS implies DESCRIBE_CONFIGS. A right on a prefix or on \`*\` includes that on
  each name.
- CREATE on a topic may be replaced by CREATE on the cluster. A producer without transactions needs no IDEMPOTENT_WRITE if its client has
  WRITE on any topic (Kafka 3.0 or later).
- Names are those of the default settings.
`
