import java.util.*;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/** A file system of Hadoop: prints its address; each line FILE PATH puts a file there, - removes it. */
class MiniDfs {
    public static void main(String[] words) throws Exception {
        var conf = new Configuration();
        conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, words[0]);
        try (var cluster = new MiniDFSCluster.Builder(conf).numDataNodes(1).build()) {
            cluster.waitActive();
            var files = cluster.getFileSystem();
            System.out.println(files.getUri());
            var asked = new Scanner(System.in);
            while (asked.hasNextLine()) {
                var put = asked.nextLine().split("\t");
                var path = new Path(put[1]);
                if (put[0].equals("-")) files.delete(path, false);
                else files.copyFromLocalFile(false, true, new Path(put[0]), path);
                System.out.println("done");
            }
        }
    }
}
