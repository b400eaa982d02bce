import { field } from '../../../../sdk/index.ts'

export const CONNECTION_GROUP = 'Connection'

/** The keys of a server's address. */
export const addressKeys = (defaultPort: number) => ({
  'database.hostname': field.text({
    doc: 'Host of the database server. Several hosts, separated by commas and each with its port if it differs, are tried in order.',
    importance: 'HIGH',
    nonEmpty: true,
    reaches: 'url',
    group: CONNECTION_GROUP,
  }),
  'database.port': field
    .int({ doc: 'Port of the database server.', importance: 'HIGH', min: 1, max: 65_535, group: CONNECTION_GROUP })
    .default(defaultPort),
})

export const initialStatementsKey = {
  'database.initial.statements': field
    .text({
      doc:
        'SQL statements, separated by semicolons, that are executed on each connection for queries, but not on the one for ' +
        'changes. Two semicolons are one character.',
      importance: 'LOW',
      group: CONNECTION_GROUP,
    })
    .default(''),
}
