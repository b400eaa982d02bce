import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { convertTexts } from '../../support/conversion.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const NAMED = { workerRef: 'main', registryRef: 'main' }

const CONNECTOR = `
resource "confluent_connector" "sink" {
  environment {
    id = confluent_environment.staging.id
  }
  config_sensitive = {
    "aws.secret.access.key" = "pa55word"
    "plain.name"            = var.secret
  }
  config_nonsensitive = {
    "connector.class" = "io.example.S3Sink"
    "name"            = "S3_Sink_0"
    "tasks.max"       = "2"
    "flush.size"      = 1000
    "topics"          = confluent_kafka_topic.orders.topic_name
  }
  status = "PAUSED"
  lifecycle {
    prevent_destroy = true
  }
}
`

describe('a confluent_connector', () => {
  it('becomes a Connector, and everything sensitive a reference to a Secret', () => {
    const { manifests, text, findings } = convertTexts({ 'main.tf': CONNECTOR }, NAMED)
    expect(manifests).toMatchObject([
      {
        kind: 'Connector',
        metadata: { name: 's3-sink-0' },
        spec: {
          name: 'S3_Sink_0',
          class: 'io.example.S3Sink',
          tasksMax: 2,
          state: 'Paused',
          config: { 'flush.size': '1000' },
          valuesFrom: [{ key: 'aws.secret.access.key' }, { key: 'plain.name' }],
        },
      },
    ])
    expect(text).not.toContain('pa55word')
    expect(findings).toEqual([
      expect.stringMatching(/^main\.tf:15: .*topics.*confluent_kafka_topic\.orders\.topic_name/),
    ])
  })

  it('is reported for its cluster, unless the worker cluster is named', () => {
    const { findings } = convertTexts({ 'main.tf': CONNECTOR })
    expect(findings).toContainEqual(
      expect.stringMatching(/^main\.tf:3: resource\.confluent_connector\.sink\.environment: .*--worker/),
    )
  })

  it('is reported if Terraform repeats it', () => {
    const { findings } = convertTexts({ 'main.tf': CONNECTOR.replace('status', 'count = 2\n  status') }, NAMED)
    expect(findings).toContainEqual(expect.stringMatching(/^main\.tf:17: .*\.count: .*terraform show -json/))
  })

  it('does not keep the login of Confluent Cloud', () => {
    const text = CONNECTOR.replace('"plain.name"            = var.secret', '"kafka.api.secret" = "cloud-pa55"')
    const { text: output, findings } = convertTexts({ 'main.tf': text }, NAMED)
    expect(output).not.toContain('cloud-pa55')
    expect(findings).toContainEqual(
      expect.stringMatching(/^main\.tf:8: .*kafka\.api\.secret.*: is the login of Confluent Cloud/),
    )
  })
})

const SCHEMA = `
resource "confluent_schema" "orders" {
  subject_name = "orders-value"
  format       = "AVRO"
  schema       = <<-EOT
    {"type": "record", "name": "Order", "fields": []}
  EOT
  schema_reference {
    name         = "com.example.Address"
    subject_name = "address"
    version      = 3
  }
  hard_delete = true
  metadata {
    properties = { owner = "shop" }
    tags {
      key   = "**.email"
      value = ["PII"]
    }
  }
  ruleset {
    domain_rules {
      name       = "check"
      kind       = "CONDITION"
      mode       = "WRITE"
      type       = "CEL"
      expr       = "message.id > 0"
      on_failure = "ERROR"
    }
  }
}
`

describe('a confluent_schema', () => {
  it('becomes a Subject with its references, metadata and rules', () => {
    const { spec, findings } = convertTexts({ 'main.tf': SCHEMA }, NAMED)
    expect(findings).toEqual([])
    expect(spec).toEqual({
      registryRef: { name: 'main' },
      schemaType: 'AVRO',
      schema: '{"type": "record", "name": "Order", "fields": []}\n',
      metadata: { properties: { owner: 'shop' }, tags: { '**.email': ['PII'] } },
      ruleSet: {
        domainRules: [
          { name: 'check', kind: 'CONDITION', mode: 'WRITE', type: 'CEL', expr: 'message.id > 0', onFailure: 'ERROR' },
        ],
      },
      deletionPolicy: 'HardDelete',
      references: [{ name: 'com.example.Address', subject: 'address', version: 3 }],
    })
  })

  it('has the compatibility level of its confluent_subject_config, also from another file', () => {
    const config = `resource "confluent_subject_config" "o" {
  subject_name        = "orders-value"
  compatibility_level = "FULL"
}
resource "confluent_subject_mode" "o" {
  subject_name = "orders-value"
  mode         = "READONLY"
}
`
    const { manifests, findings } = convertTexts({ 'a.tf': config, 'b.tf': SCHEMA }, NAMED)
    expect(findings).toEqual([])
    expect(manifests).toMatchObject([
      { kind: 'RegistryMode', spec: { mode: 'READONLY', scope: { type: 'Subject', subject: 'orders-value' } } },
      { kind: 'Subject', spec: { compatibility: 'FULL', schemaType: 'AVRO' } },
    ])
  })

  it('of a second version of a subject is reported with the place of the first', () => {
    const second = SCHEMA.replace('"orders" {', '"orders_v2" {')
    const { manifests, findings } = convertTexts({ 'a.tf': SCHEMA, 'b.tf': second }, NAMED)
    expect(manifests).toHaveLength(1)
    expect(findings).toEqual([expect.stringMatching(/^b\.tf:2: .*subject orders-value is declared at a\.tf:2 too/)])
  })

  it('contains the text of the file that it reads', () => {
    const root = temporaryDirectory()
    writeFileSync(join(root, 'orders.avsc'), '"string"')
    const withFile = (path: string) =>
      `resource "confluent_schema" "o" {\n  subject_name = "o"\n  format = "AVRO"\n  schema = file("${path}")\n}\n`
    for (const path of ['./orders.avsc', '${path.module}/orders.avsc']) {
      expect(convertTexts({ 'main.tf': withFile(path) }, { ...NAMED, root }).spec['schema']).toBe('"string"')
    }
    const { manifests, findings } = convertTexts({ 'main.tf': withFile('/etc/hostname') }, { ...NAMED, root })
    expect(manifests).toEqual([])
    expect(findings).toContainEqual(expect.stringMatching(/^main\.tf:4: .*\.schema: \/etc\/hostname is outside of/))
  })

  it('is reported and not written if its subject is an expression', () => {
    const { manifests, findings } = convertTexts(
      { 'main.tf': SCHEMA.replace('"orders-value"', '"${var.topic}-value"') },
      NAMED,
    )
    expect(manifests).toEqual([])
    expect(findings[0]).toMatch(/^main\.tf:2: .*cannot be converted$/)
    expect(findings[1]).toMatch(/^main\.tf:3: .*subject_name: the value of "\$\{var\.topic\}-value" is not known here/)
  })
})

describe('the JSON of Terraform', () => {
  it('as configuration is converted like the native syntax', () => {
    const body = {
      subject_name: 'a',
      format: 'JSON',
      schema: '{}',
      schema_reference: { name: 'n', subject_name: '${var.s}', version: 1 },
    }
    const { spec, findings } = convertTexts(
      { 'main.tf.json': JSON.stringify({ resource: { confluent_schema: { a: body } } }) },
      NAMED,
    )
    expect(spec).toMatchObject({ schema: '{}', schemaType: 'JSON' })
    expect(findings).toEqual([expect.stringContaining('the value of var.s is not known here')])
  })

  it('as state has the values of all expressions, of child modules too', () => {
    const values = {
      id: 'lsrc/a',
      subject_name: 'a',
      format: 'AVRO',
      schema: '"${not a template}"',
      hard_delete: false,
      credentials: [],
      rest_endpoint: null,
      metadata: [],
      ruleset: [],
      schema_reference: [{ name: 'n', subject_name: 'b', version: 2 }],
      schema_identifier: 100001,
      version: 1,
      recreate_on_update: false,
      skip_validation_during_plan: null,
    }
    const resource = { mode: 'managed', type: 'confluent_schema', name: 'a', index: 0, values }
    const state = { format_version: '1.0', values: { root_module: { child_modules: [{ resources: [resource] }] } } }
    const { spec, findings } = convertTexts({ 'state.json': JSON.stringify(state) }, NAMED)
    expect(findings).toEqual([])
    expect(spec).toMatchObject({ schema: '"${not a template}"', references: [{ subject: 'b', version: 2 }] })
  })
})

describe('resources of Terraform without a counterpart', () => {
  it('are named, as failures if they belong to schemas or connectors', () => {
    const { findings } = convertTexts({
      'main.tf':
        'resource "confluent_kafka_topic" "t" {}\nresource "confluent_schema_exporter" "e" {}\nmodule "m" {}\n',
    })
    expect(findings).toEqual([
      expect.stringMatching(/^main\.tf:1: note: .*confluent_kafka_topic\.t is not converted/),
      expect.stringMatching(/^main\.tf:2: resource.*confluent_schema_exporter\.e has no counterpart/),
      expect.stringMatching(/^main\.tf:3: note: module\.m: /),
    ])
  })
})
