import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fromBinary, type JsonObject, type JsonValue, toJson } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { expect, it, onTestFinished } from 'vitest'
import { protobufFormat } from '../../../src/formats/protobuf/protobuf-format.ts'
import { wellKnownFile } from '../../../src/formats/protobuf/well-known-types.ts'
import { SchemaError } from '../../../src/formats/schema-error.ts'
import { run } from '../../env/process.ts'
import { describeOn, real } from '../../env/real.ts'
import { SAMPLES, TAKEN_ALL_THE_SAME, VERDICTS } from '../../support/proto-samples.ts'

const python = await real('pythonClients')

describeOn([python], 'compared with protoc', () => {
  /** What protoc makes of each file below a folder: its descriptor, or null where it refuses it. */
  async function compiled(folder: string): Promise<ReadonlyMap<string, JsonObject | null>> {
    const { packages } = python.address
    const args = [join(import.meta.dirname, 'protoc.py'), packages, packages, folder]
    const { code, stdout, stderr } = await run({ file: 'python3', args, directory: folder })
    expect({ code, stderr }).toMatchObject({ code: 0 })
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { path: string; compiled: string | null })
    return new Map(lines.map(({ path, compiled: base64 }) => [path, base64 === null ? null : descriptorIn(base64)]))
  }

  function descriptorIn(base64: string): JsonObject {
    const { file } = fromBinary(FileDescriptorSetSchema, Buffer.from(base64, 'base64'))
    return meaningOf(toJson(FileDescriptorProtoSchema, file[0]!))
  }

  /** Ours, from the text alone and from the texts of what it imports. */
  function ours(text: string, textOf: (path: string) => string | undefined): JsonObject {
    const found = new Map<string, string>()
    const collect = (one: string) => {
      for (const [, path = ''] of one.matchAll(/^\s*import\s+(?:public\s+)?"([^"]+)"/gm)) {
        const imported = found.has(path) ? undefined : textOf(path)
        if (imported === undefined) continue
        found.set(path, imported)
        collect(imported)
      }
    }
    collect(text)
    const dependencies = [...found].map(([name, one]) => ({ name, subject: name, version: 1, text: one }))
    const serialized = protobufFormat.parse({ text, dependencies }).formatted('serialized') ?? ''
    return meaningOf(
      toJson(FileDescriptorProtoSchema, fromBinary(FileDescriptorProtoSchema, Buffer.from(serialized, 'base64'))),
    )
  }

  function folderOf(files: Readonly<Record<string, string>>): string {
    const folder = mkdtempSync(join(tmpdir(), 'weir-protoc-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    return folder
  }

  it('files with every language feature compile to the same descriptors', async () => {
    const theirs = await compiled(folderOf(SAMPLES))
    expect([...theirs.keys()].sort()).toEqual(Object.keys(SAMPLES).sort())
    for (const [path, text] of Object.entries(SAMPLES)) {
      expect(
        ours(text, (name) => SAMPLES[name]),
        path,
      ).toEqual(theirs.get(path))
    }
  })

  it('the files of Google’s APIs compile to the same descriptors', async () => {
    const { packages } = python.address
    const paths = readdirSync(join(packages, 'google'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.proto'))
      .map((path) => join('google', path))
    expect(paths.length).toBeGreaterThan(50)
    const textOf = (path: string) => (paths.includes(path) ? readFileSync(join(packages, path), 'utf8') : undefined)
    const theirs = await compiled(folderOf(Object.fromEntries(paths.map((path) => [path, textOf(path) ?? '']))))
    for (const path of paths) expect(ours(textOf(path) ?? '', textOf), path).toEqual(theirs.get(path))
  })

  it('the built-in well-known files have the declarations of Google’s files', async () => {
    const { packages } = python.address
    const [types, own] = [join(packages, 'google/type'), join(packages, 'grpc_tools/_proto/google/protobuf')]
    const pathsIn = (folder: string, prefix: string) =>
      readdirSync(folder)
        .filter((name) => name.endsWith('.proto') && wellKnownFile(prefix + name) !== undefined)
        .map((name) => [prefix + name, readFileSync(join(folder, name), 'utf8')] as const)
    const files = Object.fromEntries([...pathsIn(types, 'google/type/'), ...pathsIn(own, 'google/protobuf/')])
    expect(Object.keys(files).length).toBeGreaterThan(25)
    // It grows with each release, and protoc's is not ours.
    delete files['google/protobuf/descriptor.proto']
    const theirs = await compiled(folderOf(files))
    for (const path of Object.keys(files)) {
      expect(declared(ours(wellKnownFile(path) ?? '', () => undefined)), path).toEqual(
        declared(theirs.get(path) ?? null),
      )
    }
  })

  it('the same files are accepted and rejected, except those that Confluent’s registry accepts', async () => {
    const cases = Object.entries(VERDICTS).flatMap(([name, texts]) =>
      texts.map((text, at) => ({
        name,
        path: `${name.replaceAll(' ', '_')}_${at}.proto`,
        text: `syntax = "proto3"; ${text}`,
        isRight: at === 1,
      })),
    )
    const theirs = await compiled(folderOf(Object.fromEntries(cases.map(({ path, text }) => [path, text]))))
    expect(cases.filter(({ path, isRight }) => (theirs.get(path) !== null) !== isRight)).toEqual([])
    const otherwise = cases.filter(({ text, isRight }) => isTaken(text) !== isRight)
    expect(otherwise.filter(({ isRight }) => isRight)).toEqual([])
    expect(otherwise.map(({ name }) => name)).toEqual(TAKEN_ALL_THE_SAME)
  })

  function isTaken(text: string): boolean {
    try {
      protobufFormat.parse({ text })
      return true
    } catch (error) {
      if (error instanceof SchemaError) return false
      throw error
    }
  }
})

/** Without the file's name, and without the places of fields, map entries and groups, which no text of the registry keeps. */
function meaningOf(file: JsonValue): JsonObject {
  const { name: _, ...rest } = inOrder(file) as JsonObject
  return rest
}

function inOrder(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, inOrder(member)]))
  // Custom ones are not compiled.
  if (members['type'] === 'TYPE_DOUBLE' || members['type'] === 'TYPE_FLOAT') {
    // As many digits as it was written with.
    if (members['defaultValue'] !== undefined) members['defaultValue'] = String(Number(members['defaultValue']))
  }
  if (members['options'] !== undefined && Object.keys(members['options'] as JsonObject).length === 0)
    delete members['options']
  const fields = listIn(members, 'field').toSorted((a, b) => Number(a['number']) - Number(b['number']))
  const groups = fields
    .filter(({ type }) => type === 'TYPE_GROUP')
    .map(({ typeName }) => String(typeName).split('.').at(-1))
  const isMade = ({ name, options }: JsonObject) =>
    groups.includes(String(name)) || (options as JsonObject)?.['mapEntry'] === true
  const types = listIn(members, 'nestedType')
  const made = types.filter(isMade).toSorted((a, b) => (String(a['name']) < String(b['name']) ? -1 : 1))
  return {
    ...members,
    ...(fields.length > 0 ? { field: fields } : {}),
    ...(types.length > 0 ? { nestedType: [...types.filter((type) => !isMade(type)), ...made] } : {}),
  }
}

/** Without what compilers of other languages are told, and what nobody may use. */
function declared(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(declared)
  if (typeof value !== 'object' || value === null) return value
  const { options: _, reservedRange: __, reservedName: ___, ...rest } = value
  return Object.fromEntries(Object.entries(rest).map(([key, member]) => [key, declared(member)]))
}

function listIn(members: JsonObject, key: string): readonly JsonObject[] {
  return (members[key] ?? []) as JsonObject[]
}
