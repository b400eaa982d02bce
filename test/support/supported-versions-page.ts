import { SUPPORTED_VERSIONS } from '../env/supported-versions.ts'

type Program = keyof typeof SUPPORTED_VERSIONS

/** How the page names each program, what it is needed for, and what the versions alone do not state. */
const ROWS: Readonly<Record<Program, { readonly name: string; readonly use: string; readonly remark: string }>> = {
  node: { name: 'Node.js', use: 'the npm package', remark: 'The image contains the tested version.' },
  kafka: {
    name: 'Apache Kafka',
    use: 'every program, except with the embedded broker',
    remark: 'Each commit is tested with four of them, `npm run versions` tests all. [Services and APIs](kafka.md)',
  },
  kubernetes: { name: 'Kubernetes', use: 'the operator and the chart', remark: 'Images with plugins need 1.33.' },
  helm: { name: 'Helm', use: 'the chart', remark: 'Helm 4 is not tested.' },
  postgres: {
    name: 'PostgreSQL',
    use: 'the connectors for PostgreSQL and JDBC',
    remark:
      'On a machine without Docker, tests use its installed server instead of 17. [Features by version](postgres-cdc.md)',
  },
  mariadb: {
    name: 'MariaDB',
    use: '`MysqlCdcSource`, `MariadbCdcSource`, `JdbcSource` and `JdbcSink`',
    remark:
      "The server of Debian's packages. For MySQL there is no server in tests, which check its differences alone: [why](adr/0022-mysql-driver.md).",
  },
  java: { name: 'Java', use: 'Java plugins', remark: 'The image with Java contains the tested version.' },
}

/** Generates `docs/supported-versions.md`. */
export function supportedVersionsPage(): string {
  const rows = (Object.keys(SUPPORTED_VERSIONS) as Program[]).map((program) => {
    const { oldest, tested } = SUPPORTED_VERSIONS[program]
    const { name, use, remark } = ROWS[program]
    return `| ${name} | ${use} | ${oldest} | ${tested.toSorted(byVersion).join(', ')} | ${remark} |`
  })
  return `# Supported versions

## Of Weir

Until 1.0.0, only the latest minor version gets corrections, in a patch version. A minor version may contain incompatible changes; the
[changelog](../CHANGELOG.md) names them. How to report a vulnerability: [SECURITY.md](../SECURITY.md).

## Of other programs

The tests use the versions in *tested*. Versions between the oldest and the newest tested one are supported, but not tested; a report of a
difference is welcome. Newer versions are added with the first release that is tested with them. A version is removed in a minor version
only, and the changelog names it.

| program | needed for | oldest | tested | remark |
| --- | --- | --- | --- | --- |
${rows.join('\n')}

\`test/env/supported-versions.ts\` declares the versions. The tests take them from there, and this page is generated from it.
`
}

function byVersion(left: string, right: string): number {
  return left.localeCompare(right, 'en', { numeric: true })
}
