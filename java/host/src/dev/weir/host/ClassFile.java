package dev.weir.host;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;

/** The head of a class file: enough to find plugins without loading every class of every jar. Names have dots. */
record ClassFile(String name, int access, List<String> supertypes) {
    private static final int MAGIC = 0xCAFEBABE;
    private static final int UTF8 = 1;
    private static final int CLASS = 7;

    boolean isConcrete() {
        return Modifier.isPublic(access) && !Modifier.isAbstract(access) && !Modifier.isInterface(access);
    }

    static ClassFile read(InputStream bytes) throws IOException {
        DataInputStream input = new DataInputStream(bytes);
        if (input.readInt() != MAGIC) throw new IOException("it is not a class file");
        input.readInt();
        int count = input.readUnsignedShort();
        String[] texts = new String[count];
        int[] classes = new int[count];
        for (int at = 1; at < count; at++) {
            int tag = input.readUnsignedByte();
            switch (tag) {
                case UTF8 -> texts[at] = input.readUTF();
                case CLASS -> classes[at] = input.readUnsignedShort();
                case 8, 16, 19, 20 -> input.readUnsignedShort();
                case 3, 4, 9, 10, 11, 12, 17, 18 -> input.readInt();
                // A long or a double takes two places.
                case 5, 6 -> {
                    input.readLong();
                    at++;
                }
                case 15 -> {
                    input.readUnsignedByte();
                    input.readUnsignedShort();
                }
                default -> throw new IOException("its constant pool has an entry of unknown kind " + tag);
            }
        }
        int access = input.readUnsignedShort();
        String name = nameOf(texts, classes, input.readUnsignedShort());
        List<String> supertypes = new ArrayList<>();
        int superclass = input.readUnsignedShort();
        if (superclass != 0) supertypes.add(nameOf(texts, classes, superclass));
        int interfaces = input.readUnsignedShort();
        for (int at = 0; at < interfaces; at++) supertypes.add(nameOf(texts, classes, input.readUnsignedShort()));
        return new ClassFile(name, access, supertypes);
    }

    private static String nameOf(String[] texts, int[] classes, int index) throws IOException {
        if (index >= classes.length || classes[index] >= texts.length || texts[classes[index]] == null) {
            throw new IOException("its constant pool is damaged");
        }
        return texts[classes[index]].replace('/', '.');
    }
}
