import { crc32, deflateRawSync } from 'node:zlib'

/** A class file, as javac would write it, as far as its header and constructors. */
export type TestClass = {
  readonly name: string
  readonly extends?: string
  readonly implements?: readonly string[]
  readonly isAbstract?: boolean
  readonly isPrivate?: boolean
  /** Without it, the class has a public constructor without parameters. */
  readonly constructorType?: string
  readonly javaVersion?: number
}

export function classFile(of: TestClass): Buffer {
  const constants: Buffer[] = []
  // A long first: it takes two numbers.
  constants.push(Buffer.concat([Buffer.of(5), Buffer.alloc(8)]))
  let numbers = 3
  const add = (constant: Buffer): number => {
    constants.push(constant)
    return numbers++
  }
  const text = (value: string): number =>
    add(Buffer.concat([Buffer.of(1), u2(Buffer.byteLength(value)), Buffer.from(value)]))
  const type = (name: string): number => add(Buffer.concat([Buffer.of(7), u2(text(name.replaceAll('.', '/')))]))
  const self = type(of.name)
  const parent = type(of.extends ?? 'java.lang.Object')
  const interfaces = (of.implements ?? []).map(type)
  const [code, name, descriptor] = [text('Code'), text('<init>'), text(of.constructorType ?? '()V')]
  const noParameters = Buffer.concat([u2(1), u2(name), u2(descriptor), u2(1), u2(code), u4(3), Buffer.alloc(3)])
  const access = (of.isPrivate ? 0 : 0x0001) | (of.isAbstract ? 0x0400 : 0) | 0x0020
  return Buffer.concat([
    u4(0xcafebabe),
    u2(0),
    u2((of.javaVersion ?? 17) + 44),
    u2(numbers),
    ...constants,
    u2(access),
    u2(self),
    u2(parent),
    u2(interfaces.length),
    ...interfaces.map(u2),
    u2(0),
    u2(1),
    noParameters,
    u2(0),
  ])
}

/** The entry of a class in a jar. */
export function classEntry(of: TestClass): readonly [name: string, content: Buffer] {
  return [`${of.name.replaceAll('.', '/')}.class`, classFile(of)]
}

/** A service loader manifest. */
export function manifestEntry(type: string, ...names: readonly string[]): readonly [name: string, content: Buffer] {
  return [`META-INF/services/${type}`, Buffer.from(`# plugins\n${names.join('\n')}\n`)]
}

/** A zip file with these entries, compressed. */
export function jarOf(entries: Iterable<readonly [name: string, content: Buffer]>): Buffer {
  const files: Buffer[] = []
  const directory: Buffer[] = []
  const compressedOf = new Map<Buffer, Buffer>()
  let offset = 0
  for (const [name, content] of entries) {
    const bytes = Buffer.from(name)
    const compressed = compressedOf.get(content) ?? deflateRawSync(content)
    compressedOf.set(content, compressed)
    const common = Buffer.concat([
      le2(20),
      le2(0x0800),
      le2(8),
      le4(0),
      le4(crc32(content)),
      le4(compressed.length),
      le4(content.length),
      le2(bytes.length),
      le2(0),
    ])
    directory.push(
      Buffer.concat([Buffer.from('PK\x01\x02'), le2(20), common, le2(0), le2(0), le2(0), le4(0), le4(offset), bytes]),
    )
    const file = Buffer.concat([Buffer.from('PK\x03\x04'), common, bytes, compressed])
    files.push(file)
    offset += file.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.concat([
    Buffer.from('PK\x05\x06'),
    le2(0),
    le2(0),
    le2(directory.length),
    le2(directory.length),
    le4(listed.length),
    le4(offset),
    le2(0),
  ])
  return Buffer.concat([...files, listed, end])
}

function u2(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

function u4(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function le2(value: number): Buffer {
  return u2(value).reverse()
}

function le4(value: number): Buffer {
  return u4(value).reverse()
}
